import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { isMissingStream } from './bucket.js';
import { forCaller, isUnanswered } from './connection.js';
import { partsOf } from './objects.js';
import type { StoredInput } from './protocol/messages.js';
import { storeName } from './protocol/stores.js';
import { withReplicas } from './replicas.js';

const CIPHER = 'aes-256-gcm';
const CHUNK_BYTES = 256 * 1024;

export interface SealedBucket {
  store: 'inputs' | 'artifacts';
  /** What nobody has removed is gone after this. */
  keptMs: number;
  maxBytes?: number;
}

/** What a front end that was killed left behind is gone after a time. */
const INPUTS: SealedBucket = { store: 'inputs', keptMs: 15 * 60_000 };

/**
 * What is too large for a message, in a bucket of the object store. Each object is encrypted with a key of its own: who can read the
 * bucket, and not the message with the key, learns nothing. The key of an input is in the order to the worker of the run.
 */
export class SealedStore {
  #bucket: Promise<ObjectStore> | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
    private readonly about = INPUTS,
  ) {}

  /**
   * For a front end: makes the bucket if there is none. It is looked for each time, because the library says that it has made one if NATS
   * did not answer.
   */
  async open(): Promise<ObjectStore> {
    const bucket = await this.#make();
    if (await this.#isThere()) return bucket;
    this.#bucket = undefined;
    return this.#make();
  }

  async #isThere(): Promise<boolean> {
    const { streams } = await jetstreamManager(this.connection, { checkAPI: false });
    try {
      await streams.info(`OBJ_${this.#name}`);
      return true;
    } catch (error) {
      if (isMissingStream(error)) return false;
      throw error instanceof JetStreamApiError ? unavailable(error) : forCaller(error);
    }
  }

  #make(): Promise<ObjectStore> {
    const { keptMs, maxBytes } = this.about;
    const limits = { ttl: nanos(keptMs), ...(maxBytes && { max_bytes: maxBytes }) };
    return this.#use((buckets, named) =>
      withReplicas(this.connection, (replicas) =>
        buckets.create(named, { ...limits, storage: StorageType.File, replicas }),
      ),
    );
  }

  /** For a front end. Throws SERVER_BUSY if NATS does not answer. */
  async put(content: AsyncIterable<Buffer>): Promise<StoredInput> {
    const [name, key, iv] = [randomBytes(16).toString('base64url'), randomBytes(32), randomBytes(12)];
    const cipher = createCipheriv(CIPHER, key, iv);
    let bytes = 0;
    async function* sealed(): AsyncGenerator<Buffer> {
      for await (const piece of content) {
        bytes += piece.length;
        yield cipher.update(piece);
      }
      cipher.final();
    }
    const stream = Readable.toWeb(Readable.from(sealed())) as globalThis.ReadableStream<Uint8Array>;
    const bucket = await this.open();
    await bucket.put({ name, options: { max_chunk_size: CHUNK_BYTES } }, stream).catch((error: Error) => {
      throw error instanceof JetStreamApiError ? unavailable(error) : forCaller(error);
    });
    const text = (part: Buffer) => part.toString('base64');
    return { name, bytes, key: text(key), iv: text(iv), tag: text(cipher.getAuthTag()) };
  }

  async remove({ name }: StoredInput): Promise<void> {
    await (await this.#bucket)?.delete(name);
  }

  /** Fails if anything of the object was changed. */
  async *get({ name, bytes, key, iv, tag }: StoredInput): AsyncGenerator<Buffer> {
    const bucket = await this.#use((buckets, named) => buckets.open(named));
    const found = await bucket.info(name);
    if (found === null || found.deleted)
      throw new PungiError('INTERNAL_ERROR', 'An input or file of the run is gone.');
    const read = (text: string) => Buffer.from(text, 'base64');
    const decipher = createDecipheriv(CIPHER, read(key), read(iv)).setAuthTag(read(tag));
    let left = bytes;
    for await (const piece of partsOf(this.connection, this.#name, found.nuid)) {
      left -= piece.length;
      if (left < 0) break;
      yield decipher.update(piece);
    }
    if (left !== 0) throw new PungiError('INTERNAL_ERROR', 'An input or file of the run has another size.');
    decipher.final();
  }

  get #name(): string {
    return storeName(this.cluster, this.about.store);
  }

  #use(open: (buckets: Objm, name: string) => Promise<ObjectStore>): Promise<ObjectStore> {
    this.#bucket ??= open(new Objm(this.connection), this.#name).catch((error: Error) => {
      this.#bucket = undefined;
      throw isUnanswered(error) ? forCaller(error) : unavailable(error);
    });
    return this.#bucket;
  }
}

const unavailable = (error: Error) =>
  new PungiError(
    'INTERNAL_ERROR',
    `Large inputs and outcomes need the object store of NATS, which cannot be used (${error.message}): check that JetStream is enabled and has room.`,
    {},
    error,
  );
