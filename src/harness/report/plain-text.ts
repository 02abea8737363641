import type { Failure } from '../../contract/test-report.js';
import type { Bounds } from './bounded-text.js';
import { type Evidence, type Finding, findingOf } from './evidence.js';

/** A schema that fits nothing finds thousands of faults, and the first ones tell it. */
export const MOST_FINDINGS = 20;

/** The first ones, and how many are left. */
export const firstOf = <T>(all: readonly T[], most: number): [shown: readonly T[], left: number] => [
  all.slice(0, most),
  Math.max(0, all.length - most),
];

/** Findings as lines of text, for readers that show nothing but text. */
export function plainFindings(failures: readonly Failure[], bounds: Bounds): string {
  const [shown, left] = firstOf(failures, MOST_FINDINGS);
  const blocks = shown.map((failure) => plainFinding(findingOf(failure, bounds)));
  return [...blocks, ...(left > 0 ? [`${left} more were found.`] : [])].join('\n\n');
}

export function plainFinding({ message, source, evidence }: Finding): string {
  return [message, ...(source ? [`  found by ${source}`] : []), ...evidence.map(plainEvidence)].join('\n');
}

/** Beside its name where it fits there, else below it. */
export function plainEvidence({ label, form, text }: Evidence): string {
  const indented = text.replace(/^/gm, '  ');
  if (form === 'diff') return indented;
  return text.includes('\n') ? `  ${label}:\n${indented.replace(/^/gm, '  ')}` : `  ${label}: ${text}`;
}
