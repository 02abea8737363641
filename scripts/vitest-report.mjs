// What vitest's JSON report says of a run of the tests.
import { existsSync, readFileSync } from 'node:fs';

/** How many passed and failed, and which security tests did not run. */
export function readReport(path) {
  if (!existsSync(path)) return { passed: 0, failed: 0, skippedSecurity: [], ranSecurity: false };
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(readFileSync(path, 'utf8'));
  // A file that cannot be loaded has no failed test, and has failed all the same.
  const brokenFiles = testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
  });
  const security = testResults
    .filter(({ name }) => /[\\/]tests[\\/]security[\\/]/.test(name))
    .flatMap(({ assertionResults }) => assertionResults);
  const ran = (test) => test.status === 'passed' || test.status === 'failed';
  return {
    passed: numPassedTests,
    failed: numFailedTests + brokenFiles.length,
    skippedSecurity: security.filter((test) => !ran(test)).map((test) => test.fullName),
    ranSecurity: security.some(ran),
  };
}
