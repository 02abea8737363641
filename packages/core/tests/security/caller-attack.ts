import type { Pungi } from '../../src/pungi.js';

/** What a runner gets, as the argument of its program. */
export interface CallerRun {
  tier: 'namespace' | 'landlock';
  python: string;
  folder: string;
  /** Where people wait for the tests, less of everything. */
  isShort: boolean;
}

/** What an attack finds: a Pungi of its own user, and two callers of which the first one is hostile. */
export interface Stand extends CallerRun {
  pungi: Pungi;
}

export const ANN = { caller: { client: 'ann' } };
export const BEN = { caller: { client: 'ben' } };

/** An attack by what a caller asks for, whatever its code does. Returns what is wrong, as sentences. */
export interface CallerAttack {
  name: string;
  attack: (stand: Stand) => Promise<string[]>;
}
