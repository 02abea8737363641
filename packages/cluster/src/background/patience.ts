import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import { PungiError } from '@pungi/core/base';

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
      if (isAnswer(error) || performance.now() > until) throw error;
      await pause(AGAIN_MS);
    }
}

/** What a caller is told of has the error of NATS as its cause. */
const causeOf = (error: unknown): unknown => (error instanceof PungiError && error.cause) || error;

function isAnswer(error: unknown): boolean {
  const cause = causeOf(error);
  if (cause instanceof JetStreamApiError) return !NOT_YET.includes(cause.code);
  return cause instanceof PungiError;
}

/** Answers of a bucket that is full. */
const FULL: readonly number[] = [10_077, 10_122];
export const isFull = (error: unknown): boolean => {
  const cause = causeOf(error);
  return cause instanceof JetStreamApiError && FULL.includes(cause.code);
};
