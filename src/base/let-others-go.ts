import { setImmediate as immediately } from 'node:timers/promises';

const LONG_MS = 4;

/**
 * Ends this turn of the event loop where it has taken long since that time, so that what large input costs is spread over
 * several turns, and other clients are answered between them.
 */
export async function letOthersGo(since: number): Promise<void> {
  if (performance.now() - since > LONG_MS) await immediately();
}
