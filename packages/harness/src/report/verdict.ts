import { countText, durationText } from '@pungi/core/base';
import type { Counts, SuiteReport, TestReport, TestResult } from '@pungi/core/contract';

/** `empty`: nothing was tested. */
type Verdict = 'passed' | 'failed' | 'empty';

/** A suite that could not be tested has failed, even without failed tests. */
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

/** True if the test passed only after a retry. */
export const isFlaky = (result: TestResult): boolean => result.status === 'passed' && result.attempts > 1;

/** The part of the id that is unique within its target: the name, with its matrix row. */
export function titleOf({ id, kind, target, name }: TestResult): string {
  const group = `${kind}/${target}/`;
  return id.startsWith(group) && id.length > group.length ? id.slice(group.length) : name;
}

/** The verdict as a sentence. */
export function headline(report: TestReport): string {
  const { counts, durationMs, suites } = report;
  const broken = suites.filter(({ problem }) => problem !== undefined).length;
  const time = `in ${durationText(durationMs)}`;
  if (counts.failed > 0) return `${counts.failed} of ${countText(counts.total, 'test')} failed ${time}`;
  if (broken > 0) return `${countText(broken, 'suite')} could not be tested`;
  if (verdictOf(report) === 'empty') {
    return counts.skipped > 0 ? `Nothing was tested: ${counts.skipped} skipped` : 'Nothing was tested';
  }
  const rest = counts.skipped > 0 ? `, ${counts.skipped} skipped,` : '';
  return `${countText(counts.passed, 'test')} passed${rest} ${time}`;
}

export const countParts = ({ passed, failed, skipped }: Counts): { status: keyof Counts; text: string }[] => [
  ...(failed > 0 ? [{ status: 'failed' as const, text: `${failed} failed` }] : []),
  ...(passed > 0 ? [{ status: 'passed' as const, text: `${passed} passed` }] : []),
  ...(skipped > 0 ? [{ status: 'skipped' as const, text: `${skipped} skipped` }] : []),
];
