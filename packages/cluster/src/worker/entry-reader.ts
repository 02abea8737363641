import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { GenerationGone } from '@pungi/core/engine';
import { openForReading } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { Entry, type EntryRef, generationOf, keyOfEnvironment } from '../protocol/environments.js';
import { parse } from '../protocol/messages.js';

/** Reads what the cluster keeps about environments. The bucket need not be trusted: a signed request names the generation. */
export class EntryReader {
  #bucket: Promise<KV> | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
  ) {}

  /** Throws GenerationGone if the environment is in another state by now. */
  async read({ name, generation }: EntryRef): Promise<Entry> {
    this.#bucket ??= openForReading(this.connection, this.cluster);
    const found = await (await this.#bucket).get(keyOfEnvironment(name));
    const entry = found?.operation === 'PUT' ? parse(Entry, bytesOf({ data: found.value })) : undefined;
    if (entry === undefined || generationOf(entry.lock) !== generation) throw new GenerationGone(name);
    return entry;
  }
}
