import { readFileSync } from 'node:fs';
import type { RequestedLimits } from '../../src/contract/limits.js';
import type { Outcome, Tier, VerdictKind } from '../../src/contract/outcome.js';
import type { RunRequest } from '../../src/contract/run.js';

export type AttackTier = Exclude<Tier, 'process' | 'spawn'>;
export type User = 'root' | 'user';

/** What must be true of the outcome; everything else that must hold after every row is in judge.ts. */
export interface Expected {
  verdict: VerdictKind | readonly VerdictKind[];
  stdout?: string | RegExp;
  /** The verdict's own figures, e.g. { status: 7 } or { signal: 'SIGSEGV' }. */
  details?: Record<string, unknown>;
  /** The class of the Python exception. */
  exception?: string | RegExp;
  minPeakMemoryMb?: number;
  /** An own look at the outcome: a sentence if something is wrong. */
  also?: (outcome: Outcome) => string | undefined;
}

export interface Attack {
  name: string;
  /** Runs after fixtures/prelude.py, which gives it guard(), refuse(), syscall() and so on. */
  code: string;
  expect: Expected;
  /** Where the landlock tier ends the same attack in another, equally safe way. */
  expectInLandlock?: Expected;
  /** Within the defaults of a server: for a run with more it starts another fork server, which would count as left behind. */
  limits?: RequestedLimits;
  /** Everything else of the request. */
  request?: Omit<RunRequest, 'code' | 'limits'>;
  /** The code as it is, without the prelude. */
  bare?: boolean;
  /** Would hurt the machine outside a sandbox: guard() runs first. */
  harmful?: boolean;
  /** Another run works beside this one and must neither end nor notice anything. */
  victim?: boolean;
  /** An ordinary run starts while this one is at work, and must go well. */
  bystander?: boolean;
  cancelAfterMs?: number;
  /** Takes seconds: left out where people wait for the tests. */
  long?: boolean;
  /** Further calls of the same session, of which the last one is judged. The session is ended after them. */
  calls?: readonly SessionStep[];
}

/** A call, a pause in ms, or a checkpoint that is made or restored: what is in its way is the variable `refused`. */
export type SessionStep = string | number | { copy: 'checkpoint' | 'restore' };

/** Tight enough that a bomb goes off quickly, wide enough for an ordinary script. */
export const ROW_LIMITS = {
  timeoutMs: 6000,
  cpuMs: 4000,
  memoryMb: 256,
  processes: 32,
  openFiles: 128,
  diskMb: 16,
  outputBytes: 64 * 1024,
  outputHardBytes: 8 * 1024 * 1024,
} satisfies RequestedLimits;

export { py } from '../../../../tests/support/python.js';

export const fixture = (name: string): string =>
  readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');

/** Every try in the code must be refused: it ends with done(), which prints "refused" or the breaches. */
export const refused = (name: string, code: string, more: Partial<Attack> = {}): Attack => ({
  name,
  code: `${code}\ndone()\n`,
  expect: { verdict: 'ok', stdout: 'refused\n' },
  ...more,
});

/** Every bomb has an own end well above its limit: a sandbox that fails costs a red row and not the machine. */
export const bomb = (attack: Omit<Attack, 'harmful'>): Attack => ({ ...attack, harmful: true });

const PRELUDE = fixture('prelude.py');

export function requestOf(attack: Attack): RunRequest {
  const code = attack.bare ? attack.code : `${PRELUDE}\n${attack.harmful ? 'guard()\n' : ''}${attack.code}`;
  const source = attack.request?.file === undefined ? { code } : {};
  return { ...source, ...attack.request, limits: { ...ROW_LIMITS, ...attack.limits } };
}
