import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../../tests/support/places.js';
import { TestReport } from '../../../core/src/contract/test-report.js';
import { formatOfFile, renderReport, verdictOf, writeReports } from '../../src/report/index.js';
import { deepValue, hostileReport, MEGABYTE } from './hostile.js';
import { everydayReport, passedReport, report, suite, testResult } from './sample.js';

const folder = temporaryFolder();
const own = () => mkdtempSync(join(folder, 'reports-'));

describe('a JSON report', () => {
  test('is the report, whole', () => {
    const given = everydayReport();
    expect(TestReport.parse(JSON.parse(renderReport(given, 'json')))).toEqual(given);
  });

  test('keeps every character, and a megabyte of them', () => {
    const given = hostileReport(MEGABYTE);
    expect(JSON.parse(renderReport(given, 'json'))).toEqual(given);
  });

  test('is written even where a server has nested deeper than JSON can be', () => {
    const one = testResult('tool/a/b', { response: { deep: deepValue()! } });
    const text = renderReport(report(suite([one])), 'json');
    expect(text).toContain('"… nested deeper …"');
    expect(JSON.parse(text).suites[0].results[0].id).toBe('tool/a/b');
  });
});

describe('writing reports', () => {
  test('makes the folders, and every format is there', async () => {
    const at = own();
    const files = (['json', 'junit', 'markdown', 'html'] as const).map((format) => ({
      format,
      path: join(at, 'some/where', `report.${format}`),
    }));
    await writeReports(everydayReport(), files);
    for (const { format, path } of files) {
      expect(readFileSync(path, 'utf8')).toBe(renderReport(everydayReport(), format));
    }
    expect(readdirSync(join(at, 'some/where'))).toHaveLength(4);
  });

  test('replaces the report of the last run, also through a link', async () => {
    const at = own();
    writeFileSync(join(at, 'old.json'), 'old'.repeat(100_000));
    symlinkSync('old.json', join(at, 'link.json'));
    await writeReports(passedReport(), [{ format: 'json', path: join(at, 'link.json') }]);
    expect(JSON.parse(readFileSync(join(at, 'old.json'), 'utf8')).version).toBe(1);
    expect(readdirSync(at).toSorted()).toEqual(['link.json', 'old.json']);
  });

  test('writes into a pipe, and leaves it one', async () => {
    const path = join(own(), 'pipe');
    execFileSync('mkfifo', [path]);
    const [{ stdout }] = await Promise.all([
      promisify(execFile)('cat', [path], { timeout: 20_000 }),
      writeReports(passedReport(), [{ format: 'markdown', path }]),
    ]);
    expect(stdout).toBe(renderReport(passedReport(), 'markdown'));
    expect(statSync(path).isFIFO()).toBe(true);
  });

  test('says which cannot be written, and writes the others', async () => {
    const at = own();
    const good = join(at, 'good.json');
    const writing = writeReports(passedReport(), [
      { format: 'html', path: at },
      { format: 'json', path: good },
    ]);
    await expect(writing).rejects.toThrow(`Could not write the report ${at}: it is a folder.`);
    expect(JSON.parse(readFileSync(good, 'utf8')).counts.passed).toBe(21);
    const below = writeReports(passedReport(), [{ format: 'html', path: join(good, 'x.html') }]);
    await expect(below).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

test('a file name tells its format', () => {
  const names = ['a.json', 'junit.XML', 'b.md', 'c.html', 'd.txt', 'e'];
  expect(names.map(formatOfFile)).toEqual(['json', 'junit', 'markdown', 'html', undefined, undefined]);
});

test('the verdict is bad for a suite that could not be tested, and none where nothing was', () => {
  expect(verdictOf(everydayReport())).toBe('failed');
  expect(verdictOf(passedReport())).toBe('passed');
  expect(verdictOf(report(suite([], { problem: 'no' })))).toBe('failed');
  expect(verdictOf(report(suite([testResult('tool/a/b', { status: 'skipped' })])))).toBe('empty');
});
