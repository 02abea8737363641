import type { KV, KvEntry, KvWatchEntry } from '@nats-io/kv';
import type { QueuedIterator } from '@nats-io/transport-node';
import { type Logger, PungiError } from '@pungi/core/base';
import { BEING_CHANGED, inUse } from '@pungi/core/environments';
import { isConflict } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { Entry, generationOf, keyOfEnvironment } from '../protocol/environments.js';
import { pack, parse } from '../protocol/messages.js';

interface Known {
  revision: number;
  /** Undefined if it was deleted. */
  text: string | undefined;
  entry?: Entry | undefined;
  /** When NATS got it, for people. */
  at?: KvEntry['created'] | undefined;
}

/** How often the last use of an environment is noted. Only people and cleaning need it. */
const NOTE_USE_MS = 60_000;

/**
 * The environments that the cluster keeps, as a front end knows them: a watch brings the changes of others. Besides them, the
 * bucket has which inline dependencies lead to which environment (`inline.*`), and when each was last used (`used.*`).
 */
export class Entries {
  readonly #known = new Map<string, Known>();
  readonly #noted = new Map<string, number>();
  #watch: QueuedIterator<KvWatchEntry> | undefined;

  private constructor(
    readonly bucket: KV,
    private readonly logger: Logger,
  ) {}

  static async open(bucket: KV, logger: Logger): Promise<Entries> {
    const entries = new Entries(bucket, logger);
    const keys = ['env.*', 'inline.*', 'used.*'];
    entries.#watch = await bucket.watch({ key: keys });
    void entries.#follow(entries.#watch);
    for await (const key of await bucket.keys(keys)) await entries.#fetch(key);
    return entries;
  }

  get names(): string[] {
    const found = [...this.#known.entries()].filter(([, { entry }]) => entry !== undefined);
    return found.map(([, { entry }]) => entry!.metadata.name).sort();
  }

  find(name: string): Entry | undefined {
    return this.#known.get(keyOfEnvironment(name))?.entry;
  }

  /** What the cluster has now. Its revision is 0 if there never was one. */
  async fresh(name: string): Promise<{ entry: Entry | undefined; revision: number }> {
    const { entry, revision } = await this.#fetch(keyOfEnvironment(name));
    return { entry, revision };
  }

  /** Writes an environment, or removes it. Throws ENVIRONMENT_IN_USE if its revision is another one by now. */
  async write(name: string, entry: Entry | undefined, expected: number): Promise<void> {
    const key = keyOfEnvironment(name);
    const value = entry && pack(entry);
    try {
      if (value === undefined) {
        await this.bucket.delete(key, { previousSeq: expected });
        await this.#fetch(key);
        await this.#forget(name);
        return;
      }
      const revision = await this.bucket.put(key, value, { previousSeq: expected });
      this.#apply(key, revision, value.toString());
    } catch (error) {
      if (isConflict(error)) throw inUse(name, BEING_CHANGED);
      if (error instanceof PungiError) throw error;
      const why = (error as Error).message;
      throw new PungiError(
        'INTERNAL_ERROR',
        `The environment "${name}" could not be stored: ${why}.`,
        {},
        error,
      );
    }
  }

  /** Returns the environment for inline dependencies, if there is one. */
  inline(key: string): string | undefined {
    const name = this.#known.get(`inline.${key}`)?.text;
    return name !== undefined && this.find(name) ? name : undefined;
  }

  async noteInline(key: string, name: string): Promise<void> {
    const revision = await this.bucket.put(`inline.${key}`, name);
    this.#apply(`inline.${key}`, revision, name);
  }

  noteUse(name: string): void {
    const now = performance.now();
    if (now - (this.#noted.get(name) ?? Number.NEGATIVE_INFINITY) < NOTE_USE_MS) return;
    this.#noted.set(name, now);
    this.bucket.put(`used.${name}`, '').catch((error: Error) => {
      this.logger.debug('The use of an environment could not be noted', { name, reason: error.message });
    });
  }

  /** `order` grows with every use in the cluster: of two, the one that was used later has the higher one. */
  use(name: string): { at: KvEntry['created'] | null; order: number } {
    const { at = null, revision = 0 } = this.#known.get(`used.${name}`) ?? {};
    const created = this.#known.get(keyOfEnvironment(name))?.revision ?? 0;
    return { at, order: Math.max(revision, created) };
  }

  close(): void {
    this.#watch?.stop();
  }

  /** Removes what leads to an environment that was deleted. */
  async #forget(name: string): Promise<void> {
    const notes = [...this.#known].filter(([key, { text }]) => key.startsWith('inline.') && text === name);
    const keys = [`used.${name}`, ...notes.map(([key]) => key)].filter((key) => this.#known.has(key));
    await Promise.allSettled(keys.map((key) => this.bucket.delete(key)));
  }

  async #follow(watch: QueuedIterator<KvWatchEntry>): Promise<void> {
    for await (const one of watch) this.#read(one.key, one);
  }

  async #fetch(key: string): Promise<Known> {
    const found = await this.bucket.get(key);
    if (found) this.#read(key, found);
    // The bucket was made anew.
    else if (this.#known.get(key)?.text === undefined) this.#known.delete(key);
    return this.#known.get(key) ?? { revision: 0, text: undefined };
  }

  #read(key: string, { operation, revision, value, created }: KvEntry): void {
    if (operation === 'PUT') this.#apply(key, revision, bytesOf({ data: value }).toString(), created);
    else this.#apply(key, revision, undefined);
  }

  #apply(key: string, revision: number, text: string | undefined, at?: KvEntry['created']): void {
    if (revision <= (this.#known.get(key)?.revision ?? 0)) return;
    if (!key.startsWith('env.') || text === undefined) {
      this.#known.set(key, { revision, text, at });
      return;
    }
    const entry = parse(Entry, Buffer.from(text));
    const { metadata, lock } = entry ?? {};
    const isWhole =
      metadata !== undefined &&
      keyOfEnvironment(metadata.name) === key &&
      metadata.generation === generationOf(lock!);
    if (!isWhole) this.logger.error('An environment of the cluster cannot be read', { key });
    this.#known.set(key, { revision, text: '', entry: isWhole ? entry : undefined });
  }
}
