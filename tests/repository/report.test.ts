import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readReport, withSecondRun } from '../../scripts/vitest-report.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function reportOf(testResults: unknown[], numPassedTests = 0) {
  const path = join(folder, 'report.json');
  writeFileSync(path, JSON.stringify({ numPassedTests, testResults }));
  return readReport(path);
}
const file = (name: string, ...statuses: string[]) => ({
  name,
  status: statuses.includes('failed') ? 'failed' : 'passed',
  assertionResults: statuses.map((status) => ({
    status,
    fullName: `is ${status}`,
    failureMessages: ['why'],
  })),
});

test('a skipped test is told where it is one of security', () => {
  const report = reportOf(
    [file('/x/tests/security/a.test.ts', 'passed', 'skipped'), file('/x/tests/cli/b.test.ts', 'skipped')],
    1,
  );
  expect(report).toEqual({
    passed: 1,
    failures: [],
    failedFiles: [],
    skippedSecurity: ['is skipped'],
    ranSecurity: true,
  });
});

test('a security test that is still to be written counts as skipped', () => {
  expect(reportOf([file('/x/tests/security/a.test.ts', 'todo')])).toMatchObject({
    skippedSecurity: ['is todo'],
    ranSecurity: false,
  });
});

test('what failed is told with its file and its reason; a file that cannot be loaded has failed too', () => {
  const broken = {
    name: '/x/tests/cli/c.test.ts',
    status: 'failed',
    message: 'no such module',
    assertionResults: [],
  };
  expect(reportOf([broken, file('/x/tests/cli/d.test.ts', 'passed', 'failed')]).failures).toEqual([
    '/x/tests/cli/c.test.ts: no such module',
    '/x/tests/cli/d.test.ts > is failed: why',
  ]);
});

test('no report is no success', () => {
  expect(readReport(join(folder, 'none.json'))).toMatchObject({ passed: 0, ranSecurity: false });
});

test('what passes when run alone is flaky and not failed; what fails again has failed', () => {
  const failing = reportOf([file('/x/a.test.ts', 'passed', 'failed'), file('/x/b.test.ts', 'failed')], 1);
  expect(failing.failedFiles).toEqual(['/x/a.test.ts', '/x/b.test.ts']);
  const second = reportOf([file('/x/a.test.ts', 'passed', 'passed'), file('/x/b.test.ts', 'failed')], 2);
  expect(withSecondRun(failing, second)).toMatchObject({
    passed: 2,
    failures: ['/x/b.test.ts > is failed: why'],
    flaky: ['/x/a.test.ts > is failed: why'],
  });
});

test('a test that fails only when its file runs once more is flaky, a file that cannot run then has failed', () => {
  const named = (fullName: string, status: string) => ({ status, fullName, failureMessages: ['why'] });
  const run = (one: string, other: string) => ({
    name: '/x/a.test.ts',
    status: 'failed',
    assertionResults: [named('one', one), named('other', other)],
  });
  const first = reportOf([run('failed', 'passed')], 1);
  expect(withSecondRun(first, reportOf([run('passed', 'failed')], 1))).toMatchObject({
    passed: 2,
    failures: [],
    flaky: ['/x/a.test.ts > one: why', '/x/a.test.ts > other: why'],
  });
  const broken = { name: '/x/a.test.ts', status: 'failed', message: 'no such module', assertionResults: [] };
  expect(withSecondRun(first, reportOf([broken]))).toMatchObject({
    failures: ['/x/a.test.ts: no such module'],
  });
});
