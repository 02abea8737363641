import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/** Looks until the condition gives something true and returns it; fails with the sentence after the deadline. */
export async function until<T>(
  condition: () => T | Promise<T>,
  sentence: string,
  deadlineMs = 20_000,
): Promise<NonNullable<T>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const seen = await condition();
    if (seen) return seen;
    if (performance.now() > deadline)
      throw new Error(`after ${deadlineMs} ms it was still not so: ${sentence}`);
    await pause(LOOK_EVERY_MS);
  }
}
