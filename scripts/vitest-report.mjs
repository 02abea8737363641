// Reads vitest's JSON report.
import { existsSync, readFileSync } from 'node:fs';

/** Returns how many tests passed, which failed and why, in which files, and which security tests did not run. */
export function readReport(path) {
  if (!existsSync(path))
    return { passed: 0, failures: [], failedFiles: [], skippedSecurity: [], ranSecurity: false };
  const { numPassedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
  // A file that cannot be loaded has failed, though it has no failed test.
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
 * Merges the report of the second run of the failed files: a test that failed twice, or a file that could not run
 * again, has failed; a test that passed once is flaky.
 */
export function withSecondRun(first, second) {
  const nameOf = (failure) => failure.split('\n')[0].split(': ')[0];
  const isTest = (failure) => nameOf(failure).includes(' > ');
  const names = ({ failures }) => new Set(failures.map(nameOf));
  const [before, again] = [names(first), names(second)];
  const passedAgain = first.failures.filter((failure) => !again.has(nameOf(failure)));
  const hadPassed = second.failures.filter((failure) => isTest(failure) && !before.has(nameOf(failure)));
  return {
    ...first,
    passed: first.passed + passedAgain.length,
    failures: second.failures.filter((failure) => !hadPassed.includes(failure)),
    flaky: [...passedAgain, ...hadPassed],
  };
}
