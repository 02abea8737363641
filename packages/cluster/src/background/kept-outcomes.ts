import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { KV } from '@nats-io/kv';
import { withoutDisplays } from '@pungi/core/background';
import { type ArtifactContent, Outcome } from '@pungi/core/contract';
import { bytesOf } from '../connection.js';
import { FileList, KeptFiles, type KeptOutcome, keyOfFiles } from '../protocol/background.js';
import { pack, parse, type StoredInput } from '../protocol/messages.js';
import type { SealedStore } from '../sealed-store.js';
import { patiently } from './patience.js';

/** Larger outcomes and requests are objects. */
export const MOST_INLINE_BYTES = 64 * 1024;
/** More than any outcome, request or set of files has. */
const MOST_BYTES = 2 ** 31;
const LENGTH_BYTES = 4;

/** Outcomes and files of background runs: small outcomes in the bucket, all else in the object store. */
export class KeptOutcomes {
  constructor(
    private readonly bucket: KV,
    private readonly objects: SealedStore,
  ) {}

  /** Each outcome has a name of its own, so that none replaces another one. */
  async keep(outcome: Outcome): Promise<KeptOutcome> {
    const packed = pack(outcome);
    if (packed.length > MOST_INLINE_BYTES)
      try {
        return { object: await this.put([packed]) };
      } catch (error) {
        const small = pack(withoutDisplays(outcome));
        if (small.length > MOST_INLINE_BYTES) throw error;
        return this.#keepInline(small);
      }
    return this.#keepInline(packed);
  }

  /** Returns undefined for what is no outcome. */
  async read(kept: KeptOutcome): Promise<Outcome | undefined> {
    const bytes = 'key' in kept ? await this.#readInline(kept.key) : await this.load(kept.object);
    try {
      return bytes && Outcome.safeParse(JSON.parse(bytes.toString())).data;
    } catch {
      return undefined;
    }
  }

  async forget(kept: KeptOutcome): Promise<void> {
    if ('key' in kept) await this.bucket.purge(kept.key);
    else await this.objects.remove(kept.object);
  }

  /** Keeps the files of a run for its owner at every front end. */
  async keepFiles(owner: string, runId: string, files: readonly ArtifactContent[]): Promise<void> {
    const list = pack(files.map(({ content: _, ...about }) => about));
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(list.length);
    const object = await this.put([length, list, ...files.map(({ content }) => content)]);
    await patiently(() => this.bucket.put(keyOfFiles(owner, runId), pack({ object })));
  }

  async readFiles(owner: string, runId: string): Promise<ArtifactContent[] | undefined> {
    const bytes = await this.#readInline(keyOfFiles(owner, runId));
    const kept = bytes && parse(KeptFiles, bytes);
    if (kept === undefined) return undefined;
    const whole = await this.load(kept.object);
    const begin = LENGTH_BYTES + whole.readUInt32BE(0);
    const list = parse(FileList, whole.subarray(LENGTH_BYTES, begin)) ?? [];
    let at = begin;
    return list.map((about) => {
      at += about.size;
      return { ...about, content: whole.subarray(at - about.size, at) };
    });
  }

  /** `key`: that of the files. */
  async forgetFiles(key: string): Promise<void> {
    const bytes = await this.#readInline(key);
    const kept = bytes && parse(KeptFiles, bytes);
    if (kept === undefined) return;
    await this.objects.remove(kept.object);
    await this.bucket.purge(key);
  }

  put(parts: readonly Buffer[]): Promise<StoredInput> {
    return patiently(() => this.objects.put(Readable.from(parts.filter(({ length }) => length > 0))));
  }

  load(object: StoredInput): Promise<Buffer> {
    if (object.bytes > MOST_BYTES) throw new Error('An object of the cluster is too large.');
    return patiently(async () => {
      const pieces: Buffer[] = [];
      for await (const piece of this.objects.get(object)) pieces.push(piece);
      return Buffer.concat(pieces);
    });
  }

  async remove(object: StoredInput): Promise<void> {
    await this.objects.remove(object);
  }

  async #keepInline(packed: Buffer): Promise<KeptOutcome> {
    const key = `outcome.${randomBytes(16).toString('base64url')}`;
    await patiently(() => this.bucket.put(key, packed));
    return { key };
  }

  async #readInline(key: string): Promise<Buffer | undefined> {
    const found = await patiently(() => this.bucket.get(key));
    return found?.operation === 'PUT' ? bytesOf({ data: found.value }) : undefined;
  }
}
