import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import { type NatsConnection, nanos } from '@nats-io/transport-node';
import { PungiError } from '@pungi/core/base';
import { partsOf } from './objects.js';
import type { StoredInput } from './protocol/messages.js';
import { storeName } from './protocol/stores.js';

const CIPHER = 'aes-256-gcm';
const CHUNK_BYTES = 256 * 1024;
/** What a front end that was killed left behind is gone after this. */
const KEPT_MS = 15 * 60_000;

/**
 * Inputs that are too large for a message, in a bucket of the object store. Each is encrypted with a key of its own, which only the
 * worker of the run gets: others that can read the bucket learn nothing.
 */
export class InputStore {
  #bucket: Promise<ObjectStore> | undefined;

  constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
  ) {}

  /** For a front end. */
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
    const bucket = await this.#use((buckets, named) =>
      buckets.create(named, { ttl: nanos(KEPT_MS), storage: StorageType.File }),
    );
    await bucket.put({ name, options: { max_chunk_size: CHUNK_BYTES } }, stream);
    const text = (part: Buffer) => part.toString('base64');
    return { name, bytes, key: text(key), iv: text(iv), tag: text(cipher.getAuthTag()) };
  }

  async remove({ name }: StoredInput): Promise<void> {
    await (await this.#bucket)?.delete(name);
  }

  /** For a worker. Fails if anything of the input was changed. */
  async *get({ name, bytes, key, iv, tag }: StoredInput): AsyncGenerator<Buffer> {
    const bucket = await this.#use((buckets, named) => buckets.open(named));
    const found = await bucket.info(name);
    if (found === null) throw new PungiError('INTERNAL_ERROR', 'An input of the run is gone.');
    const read = (text: string) => Buffer.from(text, 'base64');
    const decipher = createDecipheriv(CIPHER, read(key), read(iv)).setAuthTag(read(tag));
    let left = bytes;
    for await (const piece of partsOf(this.connection, this.#name, found.nuid)) {
      left -= piece.length;
      if (left < 0) break;
      yield decipher.update(piece);
    }
    if (left !== 0) throw new PungiError('INTERNAL_ERROR', 'An input of the run has another size.');
    decipher.final();
  }

  get #name(): string {
    return storeName(this.cluster, 'inputs');
  }

  #use(open: (buckets: Objm, name: string) => Promise<ObjectStore>): Promise<ObjectStore> {
    this.#bucket ??= open(new Objm(this.connection), this.#name).catch((error: Error) => {
      this.#bucket = undefined;
      throw unavailable(error);
    });
    return this.#bucket;
  }
}

const unavailable = (error: Error) =>
  new PungiError(
    'INTERNAL_ERROR',
    `Inputs of more than 512 KiB need the object store of NATS, which cannot be used (${error.message}): check that JetStream is enabled.`,
    {},
    error,
  );
