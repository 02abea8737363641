import { JetStreamApiError } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { forCallers } from './connection.js';
import { bucketOf } from './protocol/environments.js';
import { withReplicas } from './replicas.js';

/** Answers to a write that expected another revision. */
const CONFLICTS: readonly number[] = [10_071, 10_164];

/** Whether somebody else has written the key. */
export const isConflict = (error: unknown): boolean =>
  error instanceof JetStreamApiError && CONFLICTS.includes(error.code);

const NO_STREAM = 10_059;
export const isMissingStream = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === NO_STREAM;

/** Opens the bucket of environments, and makes it if there is none. Throws CONFIGURATION_ERROR without JetStream. */
export async function openBucket(connection: NatsConnection, cluster: string): Promise<KV> {
  try {
    // Only the leader answers reads, so that none is older than the last write.
    const bucket = await withReplicas(connection, (replicas) =>
      new Kvm(connection).create(bucketOf(cluster), { history: 1, allow_direct: false, replicas }),
    );
    return forCallers(bucket);
  } catch (error) {
    const reason = (error as Error).message;
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `The environments of the cluster cannot be kept in NATS: ${reason}. Its servers need JetStream (nats-server -js).`,
      {},
      error,
    );
  }
}

/** Opens it for a worker, which only reads. Resolves at once, whether there is one or not. */
export const openForReading = (connection: NatsConnection, cluster: string): Promise<KV> =>
  new Kvm(connection).open(bucketOf(cluster), { allow_direct: false });
