// What vitest's JSON report says of a run of the tests.
import { existsSync, readFileSync } from 'node:fs';

/** How many passed, which failed and why, and which security tests did not run. */
export function readReport(path) {
  if (!existsSync(path)) return { passed: 0, failures: [], skippedSecurity: [], ranSecurity: false };
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
    skippedSecurity: security.filter((test) => !ran(test)).map((test) => test.fullName),
    ranSecurity: security.some(ran),
  };
}
