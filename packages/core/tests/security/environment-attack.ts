import type { Outcome } from '../../src/contract/outcome.js';
import type { Pungi } from '../../src/pungi.js';

/** Two environments of one folder; code runs in `mine`, which has pthed and banana, and must leave `other` alone. */
export interface Ground {
  pungi: Pungi;
  base: string;
}

export interface EnvironmentAttack {
  name: string;
  /** Resolves to what came of it: an error's code, a verdict's kind, or what the code printed. */
  attempt(ground: Ground): Promise<string>;
  expect: string | RegExp;
}

/** What a change came to: an error's code, or that it was made. */
export const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'installed',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

/** What a run came to. */
export const told = ({ verdict, stdout }: Outcome): string =>
  verdict.kind === 'ok' ? stdout.text.trim() : 'code' in verdict ? verdict.code : 'ok';
