import { randomBytes } from 'node:crypto';
import type { KV, KvEntry, KvWatchEntry } from '@nats-io/kv';
import type { QueuedIterator } from '@nats-io/transport-node';
import { isConflict } from '../bucket.js';
import { bytesOf } from '../connection.js';
import { RunState, runsOf } from '../protocol/background.js';
import { pack, parse } from '../protocol/messages.js';
import { patiently } from './patience.js';

/** A state, with the revision that a change of it expects. */
export interface SeenState {
  key: string;
  state: RunState;
  revision: number;
}

interface Known extends SeenState {
  /** Since when this process knows this revision, by its own clock. */
  since: number;
}

/** What others have changed before is known after this, unless the watch is interrupted. */
const SYNC_MS = 3000;

export const isOpen = ({ state }: SeenState): boolean => state.phase !== 'ended';

/** The order in which runs were accepted. */
export const orderOf = ({ state, revision }: SeenState): number => state.order ?? revision;

/** The states of all background runs of the cluster, as a front end knows them: a watch brings what others change. */
export class RunStates {
  readonly #known = new Map<string, Known>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #watch: QueuedIterator<KvWatchEntry> | undefined;
  /** Called with every change that arrives. */
  onChange: (seen: SeenState) => void = () => {};

  private constructor(
    readonly bucket: KV,
    private readonly keptMs: number,
    private readonly marker: string,
  ) {}

  /** `keptMs`: the bucket forgets states after this. */
  static async open(bucket: KV, keptMs: number): Promise<RunStates> {
    const marker = `sync.${randomBytes(12).toString('base64url')}`;
    const states = new RunStates(bucket, keptMs, marker);
    states.#watch = await bucket.watch({ key: ['run.>', marker] });
    void states.#follow(states.#watch);
    await states.sync();
    return states;
  }

  /** Resolves when everything is known that was written before. */
  async sync(): Promise<void> {
    const seen = this.changeOf(this.marker, SYNC_MS);
    await patiently(() => this.bucket.put(this.marker, ''));
    await seen;
  }

  /** Those of an owner, the oldest first; without one, of all. */
  all(owner?: string): Known[] {
    const now = performance.now();
    for (const [key, { since }] of this.#known) if (now - since > this.keptMs) this.#known.delete(key);
    const prefix = owner === undefined ? '' : runsOf(owner);
    const found = [...this.#known.values()].filter(({ key }) => key.startsWith(prefix));
    return found.sort((a, b) => orderOf(a) - orderOf(b));
  }

  /** For how long this process has seen it unchanged. */
  unchangedMs({ key, revision }: SeenState): number {
    const known = this.#known.get(key);
    return known?.revision === revision ? performance.now() - known.since : 0;
  }

  /** What the cluster has now. */
  async get(key: string): Promise<SeenState | undefined> {
    const found = await patiently(() => this.bucket.get(key));
    if (found === null) this.#known.delete(key);
    return found ? this.#read(found) : undefined;
  }

  /** Returns undefined if there is one already. */
  create(key: string, state: RunState): Promise<SeenState | undefined> {
    return this.#write(key, state, (packed) => this.bucket.create(key, packed));
  }

  /** Returns undefined if somebody else has changed it. */
  change(seen: SeenState, changes: Partial<RunState>): Promise<SeenState | undefined> {
    const { key, revision } = seen;
    const state = { ...seen.state, order: orderOf(seen), ...changes };
    return this.#write(key, state, (packed) => this.bucket.update(key, packed, revision));
  }

  /** Returns whether it was as expected, and is gone. */
  async remove({ key, revision }: SeenState): Promise<boolean> {
    try {
      await patiently(() => this.bucket.delete(key, { previousSeq: revision }));
      this.#known.delete(key);
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }

  /** Resolves when the state changes, or after this time. */
  changeOf(key: string, ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const all = this.#waiting.get(key) ?? new Set();
      const finish = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        all.delete(finish);
        if (all.size === 0 && this.#waiting.get(key) === all) this.#waiting.delete(key);
        resolve();
      };
      const timer = setTimeout(finish, ms);
      signal?.addEventListener('abort', finish, { once: true });
      this.#waiting.set(key, all.add(finish));
    });
  }

  close(): void {
    this.#watch?.stop();
    for (const all of this.#waiting.values()) for (const notify of [...all]) notify();
  }

  /** A write whose answer was lost is in conflict with itself. */
  async #write(
    key: string,
    state: RunState,
    write: (packed: Buffer) => Promise<number>,
  ): Promise<SeenState | undefined> {
    const packed = pack(state);
    try {
      return this.#apply({ key, state, revision: await patiently(() => write(packed)) });
    } catch (error) {
      if (!isConflict(error)) throw error;
      const now = await this.get(key);
      return now && pack(now.state).equals(pack(RunState.parse(state))) ? now : undefined;
    }
  }

  async #follow(watch: QueuedIterator<KvWatchEntry>): Promise<void> {
    for await (const entry of watch) {
      if (entry.key.startsWith('run.')) {
        const seen = this.#read(entry);
        if (seen) this.onChange(seen);
        else this.#known.delete(entry.key);
      }
      for (const notify of [...(this.#waiting.get(entry.key) ?? [])]) notify();
    }
  }

  #read({ key, operation, revision, value }: KvEntry): SeenState | undefined {
    if (operation !== 'PUT') return undefined;
    const state = parse(RunState, bytesOf({ data: value }));
    return state && key.endsWith(`.${state.run}`) ? this.#apply({ key, state, revision }) : undefined;
  }

  #apply(seen: SeenState): SeenState {
    const known = this.#known.get(seen.key);
    if (known === undefined || known.revision < seen.revision)
      this.#known.set(seen.key, { ...seen, since: performance.now() });
    return seen;
  }
}
