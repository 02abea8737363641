import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type ObjectInfo, type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Logger, PungiError } from '@pungi/core/base';
import { parseLockFile } from '@pungi/core/environments';
import { partsOf } from './objects.js';
import { storeName } from './protocol/stores.js';

/** A file of a front end or an operator. */
export interface Wheel {
  path: string;
  /** Its file name says which interpreters it is for. */
  name: string;
  bytes: number;
  /** As 64 hexadecimal digits. */
  sha256: string;
}

/** A name of a wheel is a name of a file, and nothing else. */
const WHEEL = /^[A-Za-z0-9][A-Za-z0-9._+!-]{0,250}\.whl$/;
export const isWheel = (name: string): boolean => WHEEL.test(name);

const CHUNK_BYTES = 256 * 1024;
const SHA256 = 'sha256:';

/** The hashes of the files that a lock names, without those that have an address of their own. */
export const hashesOf = (lock: string): Set<string> =>
  new Set(
    parseLockFile(lock)
      .pins.filter(({ url }) => url === undefined)
      .flatMap(({ hashes }) => hashes)
      .filter((hash) => hash.startsWith(SHA256))
      .map((hash) => hash.slice(SHA256.length)),
  );

/**
 * Wheels in a bucket of the object store, for workers that reach no package index. Each is named by its hash. Nobody need trust the
 * bucket: a worker takes only what a lock names, and checks the hash.
 */
export class WheelStore {
  constructor(
    private readonly connection: NatsConnection,
    private readonly cluster: string,
  ) {}

  /**
   * For a front end. Stores wheels; those that were stored the longest time ago make room. Throws INVALID_INPUT if all of these take
   * more than `mostBytes`, or one has changed meanwhile.
   */
  async push(wheels: readonly Wheel[], mostBytes: number): Promise<{ removed: number }> {
    const needed = sum(wheels.map(({ bytes }) => bytes));
    if (needed > mostBytes) throw tooMuch(needed, mostBytes);
    const buckets = new Objm(this.connection);
    const bucket = await buckets.create(this.#name, { storage: StorageType.File }).catch((error: Error) => {
      throw unavailable(error);
    });
    const removed = await makeRoom(bucket, new Set(wheels.map(({ sha256 }) => sha256)), mostBytes - needed);
    for (const { path, name, sha256 } of wheels) {
      const content = Readable.toWeb(createReadStream(path)) as globalThis.ReadableStream<Uint8Array>;
      const meta = { name: sha256, description: name, options: { max_chunk_size: CHUNK_BYTES } };
      const { digest } = await bucket.put(meta, content);
      if (digestOf(sha256) === digest) continue;
      await bucket.delete(sha256);
      throw new PungiError('INVALID_INPUT', `${path} was changed while it was read: try again.`);
    }
    return { removed };
  }

  /** For a worker. Writes the wheels with these hashes into a folder, and returns how many there were. */
  async fetch(
    hashes: ReadonlySet<string>,
    folder: string,
    mostBytes: number,
    logger: Logger,
  ): Promise<number> {
    const bucket = await new Objm(this.connection).open(this.#name).catch(() => undefined);
    let [count, left] = [0, mostBytes];
    for (const sha256 of bucket ? hashes : []) {
      const info = await bucket!.info(sha256);
      if (info === null || info.deleted || !isWheel(info.description ?? '')) continue;
      if (info.size > left) throw tooMuch(mostBytes - left + info.size, mostBytes);
      left -= info.size;
      if (await this.#write(info, sha256, join(folder, info.description!))) count += 1;
      else logger.error('A wheel of the cluster is not what its name says', { sha256 });
    }
    return count;
  }

  /** Returns whether the content is that of the hash. */
  async #write({ nuid, size }: ObjectInfo, sha256: string, path: string): Promise<boolean> {
    const hash = createHash('sha256');
    let left = size;
    const connection = this.connection;
    const name = this.#name;
    async function* bounded(): AsyncGenerator<Uint8Array> {
      for await (const piece of partsOf(connection, name, nuid)) {
        left -= piece.length;
        if (left < 0) return;
        hash.update(piece);
        yield piece;
      }
    }
    await writeFile(path, bounded(), { mode: 0o600 });
    if (left === 0 && hash.digest('hex') === sha256) return true;
    await rm(path);
    return false;
  }

  get #name(): string {
    return storeName(this.cluster, 'wheels');
  }
}

/** Removes what was stored the longest time ago, except `kept`, until the others take no more than `mostBytes`. */
async function makeRoom(bucket: ObjectStore, kept: ReadonlySet<string>, mostBytes: number): Promise<number> {
  const others = (await bucket.list()).filter(({ name }) => !kept.has(name));
  others.sort((one, other) => one.revision - other.revision);
  let bytes = sum(others.map(({ size }) => size));
  let removed = 0;
  for (const { name, size } of others) {
    if (bytes <= mostBytes) break;
    await bucket.delete(name);
    bytes -= size;
    removed += 1;
  }
  return removed;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);

/** As the object store writes it. */
const digestOf = (sha256: string) =>
  `SHA-256=${Buffer.from(sha256, 'hex').toString('base64').replaceAll('+', '-').replaceAll('/', '_')}`;

const unavailable = (error: Error) =>
  new PungiError(
    'INTERNAL_ERROR',
    `The object store of NATS cannot be used (${error.message}): check that JetStream is enabled.`,
    {},
    error,
  );

const inMb = (bytes: number) => Math.ceil(bytes / 1024 / 1024);

const tooMuch = (bytes: number, most: number) =>
  new PungiError(
    'INVALID_INPUT',
    `The wheels take ${inMb(bytes)} MB, and at most ${inMb(most)} MB are allowed: allow more, or leave some out.`,
  );
