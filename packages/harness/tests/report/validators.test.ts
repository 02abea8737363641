import { describe, expect, test } from 'vitest';
import { styleFor } from '../../../core/src/base/terminal.js';
import type { ScriptRun } from '../../../core/src/contract/test-report.js';
import { htmlReport } from '../../src/report/html/page.js';
import { jsonReport } from '../../src/report/index.js';
import { junitReport } from '../../src/report/junit.js';
import { markdownReport } from '../../src/report/markdown.js';
import { failedTest, passedTest } from '../../src/report/terminal-end.js';
import { report, suite, testResult } from './sample.js';

const run = (name: string, status: ScriptRun['status'], more: Partial<ScriptRun> = {}): ScriptRun => ({
  name,
  phase: 'after',
  status,
  durationMs: 31,
  cpuMs: 17,
  memoryMb: 42.4,
  ...more,
});
const printed = (message: string) => ({ level: 'stdout', message, timeMs: 1, script: 'totals' });
const many = Array.from({ length: 5000 }, (_, index) => printed(`line ${index}`));

const failed = testResult('tool/add/fails', {
  failure: { kind: 'script', message: 'no total', script: 'totals' },
  scripts: [
    run('totals', 'failed', { errorKind: 'TimeoutError' }),
    run('shape', 'skipped', { reason: 'it is Lua' }),
  ],
  logs: [printed('first of all'), ...many, printed('last of all')],
});
const passed = testResult('tool/add/passes', {
  scripts: [run('prices', 'passed', { memoryMb: 23.2 })],
  logs: [printed('said in passing')],
});
const WARNING = 'specs/everything.yaml:3:1: toolz is not known and is ignored';
const given = report(suite([failed, passed], { warnings: [WARNING] }));
const style = styleFor({ isTTY: false } as NodeJS.WriteStream);

const REPORTS: [format: string, text: string][] = [
  [
    'terminal',
    failedTest(failed, { style, verbose: true, file: undefined }) +
      passedTest(passed, style, undefined) +
      WARNING,
  ],
  ['JSON', jsonReport(given)],
  ['JUnit', junitReport(given)],
  ['Markdown', markdownReport(given)],
  ['HTML', htmlReport(given)],
];

describe.each(REPORTS)('%s', (format, text) => {
  test('has time, memory and kind of error of every validator', () => {
    const shown = text.replaceAll('&#58;', ':');
    if (format === 'JSON') {
      const [first, second] = JSON.parse(text).suites[0].results;
      expect(first.scripts[0]).toMatchObject({ cpuMs: 17, memoryMb: 42.4, errorKind: 'TimeoutError' });
      expect(second.scripts[0]).toMatchObject({ cpuMs: 17, memoryMb: 23.2 });
    } else {
      expect(shown).toContain('totals (after): failed, TimeoutError; 31 ms, CPU 17 ms, 42 MB');
      expect(shown).toContain('prices (after): passed; 31 ms, CPU 17 ms, 23 MB');
    }
    expect(shown).toContain('it is Lua');
  });

  test('has the output of a test that failed, head and tail, and a mark where it is cut', () => {
    expect(text).toContain('first of all');
    expect(text).toContain('last of all');
    if (format !== 'JSON') expect(text).toMatch(/… [\d,]+ (lines|characters) left out …/);
  });

  // A comment on a pull request has room for what failed.
  test.skipIf(format === 'Markdown')('has the output of a test that passed', () => {
    expect(text).toContain('said in passing');
  });

  test('has the warnings', () => {
    expect(text.replaceAll('\\', '')).toContain('toolz is not known');
  });
});

test('the terminal shows the output of a test that failed without --verbose as well', () => {
  const text = failedTest(failed, { style, verbose: false, file: undefined });
  expect(text).toContain('totals (after): failed, TimeoutError; 31 ms, CPU 17 ms, 42 MB');
  expect(text).toContain('first of all');
  expect(text).toContain('last of all');
});
