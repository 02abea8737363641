import type { Counts, SuiteReport, TestReport, TestResult } from '../../contract/test-report.js';

/** `empty`: nothing failed, because nothing was tested. */
export type Verdict = 'passed' | 'failed' | 'empty';

/** A suite that could not be tested has failed, even where none of its tests did. */
export function verdictOf(report: TestReport): Verdict {
  if (report.counts.failed > 0 || report.suites.some(({ problem }) => problem !== undefined)) return 'failed';
  return report.counts.passed === 0 ? 'empty' : 'passed';
}

export function countResults(results: readonly TestResult[]): Counts {
  const of = (status: TestResult['status']) => results.filter((result) => result.status === status).length;
  return { total: results.length, passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

export interface Located {
  suite: SuiteReport;
  result: TestResult;
}

export const resultsOf = (report: TestReport): Located[] =>
  report.suites.flatMap((suite) => suite.results.map((result) => ({ suite, result })));

/** Passed at last, not at once. */
export const isFlaky = (result: TestResult): boolean => result.status === 'passed' && result.attempts > 1;

/** What tells the tests of one target apart: the name, with the matrix where there is one. */
export function titleOf({ id, kind, target, name }: TestResult): string {
  const group = `${kind}/${target}/`;
  return id.startsWith(group) && id.length > group.length ? id.slice(group.length) : name;
}
