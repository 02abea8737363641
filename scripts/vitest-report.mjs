// What vitest's JSON report says of a run of the tests.
import { existsSync, readFileSync } from 'node:fs';

/** How many passed, which failed and why, in which files, and which security tests did not run. */
export function readReport(path) {
  if (!existsSync(path))
    return { passed: 0, failures: [], failedFiles: [], skippedSecurity: [], ranSecurity: false };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
  // A file that cannot be loaded has no failed test, and has failed all the same.
  const failures = testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (status === 'failed' && failed.length === 0) return [`${name}: ${message}`];
    return failed.map((test) => `${name} > ${test.fullName}: ${test.failureMessages.join('\n')}`);
  });
  const security = testResults
    .filter(({ name }) => /[\\/]tests[\\/]security[\\/]/.test(name))
    .flatMap(({ assertionResults }) => assertionResults);
  const ran = (test) => test.status === 'passed' || test.status === 'failed';
  return {
    passed: numPassedTests,
    failures,
    failedFiles: testResults.filter(({ status }) => status === 'failed').map(({ name }) => name),
    skippedSecurity: security.filter((test) => !ran(test)).map((test) => test.fullName),
    ranSecurity: security.some(ran),
  };
}

/**
 * The report after the failed files ran once more: what passed then counts as passed and is flaky, by name; the rest has
 * failed.
 */
export function withSecondRun(first, second) {
  const nameOf = (failure) => failure.split('\n')[0].split(': ')[0];
  const stillFailing = new Set(second.failures.map(nameOf));
  const flaky = first.failures.filter((failure) => !stillFailing.has(nameOf(failure)));
  return { ...first, passed: first.passed + flaky.length, failures: second.failures, flaky };
}
