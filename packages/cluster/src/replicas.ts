import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiError } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';

/** Copies of what is stored, if there are so many NATS servers: then one of them may fail. */
const REPLICAS = 3;
/** The servers of a cluster that start together find each other within this time. */
const PATIENCE_MS = 10_000;
const AGAIN_MS = 250;
/** Answers of a cluster that has fewer servers, or too little room on them. */
const TOO_FEW: readonly number[] = [10_005, 10_074];

/** Makes a bucket or stream, with copies on three NATS servers if they are a cluster of at least three. */
export async function withReplicas<T>(
  connection: NatsConnection,
  make: (replicas: number) => Promise<T>,
): Promise<T> {
  if (connection.info?.cluster === undefined) return make(1);
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await make(REPLICAS);
    } catch (error) {
      const isTooFew = error instanceof JetStreamApiError && TOO_FEW.includes(error.code);
      if (!isTooFew) throw error;
      if (performance.now() > until) return make(1);
      await pause(AGAIN_MS);
    }
  }
}
