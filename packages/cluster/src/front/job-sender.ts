import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { PungiError } from '@pungi/core/base';
import type { Job } from '@pungi/core/engine';
import { type GoInputs, pack, type StoredInput } from '../protocol/messages.js';
import type { SealedStore } from '../sealed-store.js';

type Source = NonNullable<Job['sources']>[number];

/** Larger jobs travel by reference. */
const MOST_INLINE_BYTES = 512 * 1024;

/** The inputs of one run, in the message or in the object store. */
export class JobSender {
  readonly #stored: StoredInput[] = [];

  constructor(private readonly store: SealedStore) {}

  /** Stores what is too large for a message. */
  async send({ sources = [], ...job }: Job): Promise<GoInputs> {
    const packed = pack(job);
    const inputs: GoInputs = {};
    if (packed.length <= MOST_INLINE_BYTES) inputs.job = job;
    else inputs.storedJob = await this.#put(Readable.from([packed]));
    if (sources.length > 0) inputs.sources = [];
    for (const source of sources)
      inputs.sources!.push({ path: source.path, input: await this.#putFile(source) });
    return inputs;
  }

  /** Removes what was stored. */
  async remove(): Promise<void> {
    await Promise.all(this.#stored.splice(0).map((input) => this.store.remove(input)));
  }

  async #put(content: AsyncIterable<Buffer>): Promise<StoredInput> {
    const input = await this.store.put(content);
    this.#stored.push(input);
    return input;
  }

  async #putFile(source: Source): Promise<StoredInput> {
    const hash = createHash('sha256');
    async function* content(): AsyncGenerator<Buffer> {
      if (source.size === 0) return;
      for await (const piece of createReadStream(source.from, { end: source.size - 1 })) {
        hash.update(piece);
        yield piece;
      }
    }
    const input = await this.#put(content());
    const sha256 = hash.digest('hex');
    if (sha256 !== (source.expected ?? sha256)) throw changed(source);
    source.sha256 = sha256;
    return input;
  }
}

const changed = ({ path }: Source) =>
  new PungiError('INVALID_INPUT', `${path ?? 'Standard input'} has changed since the run was requested.`);
