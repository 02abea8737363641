import { expect } from 'vitest';
import type { Outcome, Verdict, VerdictKind } from '../../src/contract/outcome.js';

export function expectOk(outcome: Outcome): void {
  expect(outcome.verdict, outcome.stderr.text).toEqual({ kind: 'ok' });
}

/** The verdict, as the one of the closed list that it must be. */
export function verdictOf<Kind extends VerdictKind>(
  { verdict, stderr }: Outcome,
  kind: Kind,
): Extract<Verdict, { kind: Kind }> {
  expect(verdict.kind, `${JSON.stringify(verdict)}\n${stderr.text}`).toBe(kind);
  return verdict as Extract<Verdict, { kind: Kind }>;
}
