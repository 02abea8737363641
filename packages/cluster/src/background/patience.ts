import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';

/** A NATS server that is restarted, or another leader of its cluster, answers within this time. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 100;
/** A request without an answer is repeated after this. */
export const ANSWER_MS = 2000;
/** Answers of a cluster that has no leader yet. */
const NOT_YET: readonly number[] = [10_008, 10_009];

/** Repeats what NATS does not answer. It may have been done several times, then. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;)
    try {
      return await work();
    } catch (error) {
      const isAnswer = error instanceof JetStreamApiError && !NOT_YET.includes(error.code);
      if (isAnswer || performance.now() > until) throw error;
      await pause(AGAIN_MS);
    }
}
