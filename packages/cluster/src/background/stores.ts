import { DiscardPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { forCaller, forCallers, isUnanswered } from '../connection.js';
import { storeName } from '../protocol/stores.js';
import { withReplicas } from '../replicas.js';
import { SealedStore } from '../sealed-store.js';
import { ANSWER_MS } from './patience.js';

export interface StoreLimits {
  /** Bytes of outcomes, and of files and large outcomes. */
  totalBytes: number;
  totalFileBytes: number;
  /** A run waits so long at most. */
  keptMs: number;
  longestMs: number;
}

export interface BackgroundStores {
  states: KV;
  objects: SealedStore;
}

/** More runs than a cluster has at a time: another bound than that of the front ends, which count them. */
const MOST_QUEUED = 10_000;

/**
 * Opens what the cluster keeps of background runs, and makes what is missing. The limits are those of the front end that makes it.
 * Throws CONFIGURATION_ERROR.
 */
export async function openStores(
  connection: NatsConnection,
  cluster: string,
  { totalBytes, totalFileBytes, keptMs, longestMs }: StoreLimits,
): Promise<BackgroundStores> {
  // A run that waited as long as possible and then took as long as possible still has its state.
  const ttl = keptMs + longestMs;
  try {
    const { streams } = await jetstreamManager(connection);
    const name = storeName(cluster, 'background');
    const queue = {
      name,
      subjects: [`pungi.${cluster}.background.*`],
      retention: RetentionPolicy.Workqueue,
      discard: DiscardPolicy.New,
      storage: StorageType.File,
      max_age: nanos(keptMs),
      max_msgs: MOST_QUEUED,
      max_bytes: totalBytes,
    };
    await streams
      .info(name)
      .catch(() => withReplicas(connection, (replicas) => streams.add({ ...queue, num_replicas: replicas })));
    const objects = new SealedStore(connection, cluster, {
      store: 'artifacts',
      keptMs: ttl,
      maxBytes: totalBytes + totalFileBytes,
    });
    await objects.open();
    // Only the leader answers reads, so that none is older than the last write.
    const limits = { history: 1, ttl, max_bytes: totalBytes, allow_direct: false };
    const states = await withReplicas(connection, (replicas) =>
      new Kvm(jetstream(connection, { timeout: ANSWER_MS })).create(storeName(cluster, 'outcomes'), {
        ...limits,
        replicas,
      }),
    );
    return { states: forCallers(states), objects };
  } catch (error) {
    if (isUnanswered(error)) throw forCaller(error);
    const reason = (error as Error).message;
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `Background runs cannot be kept in NATS: ${reason}. Its servers need JetStream with enough room (docs/cluster.md).`,
      {},
      error,
    );
  }
}
