import { setImmediate as immediately } from 'node:timers/promises';

const LONG_MS = 4;
let lastTurn: Promise<void> = Promise.resolve();

/**
 * Ends this turn of the event loop where it has taken long since that time, so that what large input costs is spread over
 * several turns, and other clients are answered between them.
 */
export async function letOthersGo(since: number): Promise<void> {
  if (performance.now() - since > LONG_MS) await ownTurn();
}

/** Resolves in a turn that no other caller of this gets: several large requests take theirs one after the other. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => immediately());
  return lastTurn;
}
