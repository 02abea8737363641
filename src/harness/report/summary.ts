import { countText, durationText } from '../../base/terminal/amounts.js';
import type { Counts, TestReport } from '../../contract/test-report.js';
import { verdictOf } from './verdict.js';

/** The verdict in a sentence. */
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
