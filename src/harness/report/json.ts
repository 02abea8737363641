import type { TestReport } from '../../contract/test-report.js';

/** A server can nest deeper than JSON can be written, while its answer was read without trouble. */
const DEEPEST = 500;

/** The report itself, whole: what other formats cut, this one keeps. */
export function jsonReport(report: TestReport): string {
  try {
    return `${JSON.stringify(report, null, 2)}\n`;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${JSON.stringify(shallower(report, 0), null, 2)}\n`;
  }
}

function shallower(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return '… nested deeper …';
  if (Array.isArray(value)) return value.map((item) => shallower(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shallower(item, depth + 1)]));
}
