import { z } from 'zod';
import type { ScopeRules } from '../contract/profile.js';
import { failure, ScopeViolation, type Verdict } from '../contract/verdicts.js';

/** The limits of the worker; foreign code that writes in its place may exceed them. */
const MOST_VIOLATIONS = 50;
const MAX_TEXT = 1000;

const Reported = z.object({
  violations: z.array(z.unknown()).transform((all) => all.slice(0, MOST_VIOLATIONS)),
});

/** Returns the violations that the worker reported, or undefined if there are none. */
export function readViolations(report: unknown): ScopeViolation[] | undefined {
  const reported = Reported.safeParse(report);
  if (!reported.success) return undefined;
  const parsed = ScopeViolation.array().safeParse(reported.data.violations);
  return parsed.data?.map((violation) => ({
    ...violation,
    what: violation.what.slice(0, MAX_TEXT),
    message: violation.message.slice(0, MAX_TEXT),
  }));
}

/** Returns the verdict for code outside of its profile's scope, or undefined if the report has no violation. */
export function outOfScope(report: unknown, { profile, message }: ScopeRules): Verdict | undefined {
  const violations = readViolations(report);
  const [first] = violations ?? [];
  if (!violations || !first) return undefined;
  const more = violations.length - 1;
  const others = more === 0 ? '' : ` ${more} more ${more === 1 ? 'place is' : 'places are'} out of scope.`;
  const reason = describeViolation(first) + others;
  const whole = message === null ? reason : `${message} ${reason}`;
  return failure('denied', { reason, profile, violations }, whole);
}

/** Formats a violation, such as `Line 3, column 1: the profile "x" blocks the import of os.` */
export function describeViolation({ line, column, message }: ScopeViolation): string {
  if (line === null) return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  return `Line ${line}${column === null ? '' : `, column ${column}`}: ${message}.`;
}
