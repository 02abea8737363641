import { setTimeout as pause } from 'node:timers/promises';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from '@pungi/core/base';
import { bytecodeTagOf } from '@pungi/core/engine';
import { bytesOf } from '../connection.js';
import { Beat, splitBeat } from '../protocol/beats.js';
import { parse } from '../protocol/messages.js';
import { keyOf, type Subjects, type WorkerKey } from '../protocol/subjects.js';
import { BEAT_MS, WORKER_SILENCE_MS } from '../protocol/timing.js';
import { isCompatible } from '../protocol/version.js';
import { SilenceWatch } from '../silence.js';

/** A worker that ended, or is not heard any more. */
export interface GoneWorker {
  beat: Beat;
  /** Since this time of the process's own clock. */
  since: number;
  /** It has said that it ends. */
  wasStopped: boolean;
}

/** Workers that are gone are remembered for so long, and so many of them. */
const REMEMBER_MS = 600_000;
const MOST_REMEMBERED = 1000;
/** Starts of one worker that are heard at the same time. More come from a worker that makes them up. */
const MOST_STARTS = 8;

interface Watching {
  onLost: () => void;
  /** Called if it is heard again, as long as it was not forgotten: nobody waits any more then. */
  onReturn?: () => void;
  /** Called, instead of `onLost`, each time that NATS was not reached for a while: whether the worker is lost is not known. */
  onOutage?: () => void;
}

/** The workers that a front end hears. */
export class Workers {
  readonly #beats = new Map<string, Beat>();
  #all: readonly Beat[] | undefined;
  readonly #gone = new Map<string, GoneWorker>();
  readonly #watching = new Map<string, Set<Watching>>();
  /** The bytecode that each of them runs. */
  readonly #bytecodeTags = new Map<string, string>();
  #bytecodeTag: string | undefined;
  readonly #silence: SilenceWatch;
  readonly #subscription: Subscription;
  /** The last heartbeat on each subject. */
  readonly #last = new Map<string, { beat: Beat; rest: Buffer }>();
  #onFirst: ((beat: Beat) => void)[] = [];
  #onBeat: (beat: Beat) => void = () => {};
  #onGone: (key: string) => void = () => {};
  /** Resolves when every worker that is there had the time for a heartbeat. */
  readonly heard = pause(1.5 * BEAT_MS, undefined, { ref: false });

  constructor(
    connection: NatsConnection,
    subjects: Subjects,
    private readonly logger: Logger,
  ) {
    this.#silence = new SilenceWatch(WORKER_SILENCE_MS, () => connection.flush(), {
      onLost: (key) => this.#lose(key),
      onReturn: (key) => this.#notify(key, 'onReturn'),
      onForget: (key) => this.#watching.delete(key),
    });
    this.#subscription = connection.subscribe(subjects.beats, {
      callback: (error, message) => {
        if (error === null) this.#hear(message.subject, bytesOf(message));
      },
    });
  }

  /** The workers that are heard. */
  get all(): readonly Beat[] {
    this.#all ??= [...this.#beats.values()];
    return this.#all;
  }

  /** Calls at every heartbeat. */
  onBeat(call: (beat: Beat) => void): void {
    this.#onBeat = call;
  }

  /** Calls with the key of a worker that has left or is lost. */
  onGone(call: (key: string) => void): void {
    this.#onGone = call;
  }

  /** The bytecode that all of them run, if it is the same. Every run asks for it, however many workers there are. */
  get bytecodeTag(): string | undefined {
    return this.#bytecodeTag;
  }

  /** The workers that fell silent without a word, and did not come back. */
  get lost(): GoneWorker[] {
    const now = performance.now();
    const names = new Set(this.all.map(({ worker }) => worker));
    return [...this.#gone.values()].filter(
      ({ beat, since, wasStopped }) => !wasStopped && now - since < REMEMBER_MS && !names.has(beat.worker),
    );
  }

  /** The last heartbeat of a worker that is heard. */
  beatOf(worker: WorkerKey): Beat | undefined {
    return this.#beats.get(keyOf(worker));
  }

  stateOf(worker: WorkerKey): Beat['state'] | undefined {
    return this.beatOf(worker)?.state;
  }

  /** How a worker went, if it was heard before. */
  gone(worker: WorkerKey): GoneWorker | undefined {
    return this.#gone.get(keyOf(worker));
  }

  /** Resolves to the first worker that is heard. */
  first(): Promise<Beat> {
    const [known] = this.#beats.values();
    if (known) return Promise.resolve(known);
    return new Promise((resolve) => this.#onFirst.push(resolve));
  }

  isHeard(worker: WorkerKey): boolean {
    return this.#beats.has(keyOf(worker));
  }

  isLost(worker: WorkerKey): boolean {
    return this.#silence.isLost(keyOf(worker));
  }

  /** Calls when the worker is lost, also if it was never heard. Returns a function that ends it. */
  watch(worker: WorkerKey, watching: Watching): () => void {
    const key = keyOf(worker);
    this.#silence.expect(key);
    const all = this.#watching.get(key) ?? new Set();
    this.#watching.set(key, all.add(watching));
    return () => {
      all.delete(watching);
      if (all.size === 0 && this.#watching.get(key) === all) this.#watching.delete(key);
    };
  }

  /** Called when NATS was not reached for a while: whoever waits for a worker gives up. */
  giveUp(): void {
    for (const watching of this.#allWatching) (watching.onOutage ?? watching.onLost)();
  }

  /** From then on nobody is heard. */
  close(): void {
    this.#subscription.unsubscribe();
    this.#silence.close();
    for (const { onLost } of this.#allWatching) onLost();
  }

  get #allWatching(): Watching[] {
    return [...this.#watching.values()].flatMap((all) => [...all]);
  }

  /** Most heartbeats are like the one before, apart from their number. Parsing a thousand a second took a fifth of a core. */
  #read(subject: string, message: Buffer): Beat | undefined {
    const last = this.#last.get(subject);
    const { n, rest } = splitBeat(message);
    if (last && n !== undefined && this.#beats.has(keyOf(last.beat)) && last.rest.equals(rest))
      return { ...last.beat, n };
    const beat = parse(Beat, message);
    if (beat === undefined) return undefined;
    if (this.#last.size >= MOST_REMEMBERED) this.#last.clear();
    this.#last.set(subject, { beat, rest });
    return beat;
  }

  #hear(subject: string, message: Buffer): void {
    const beat = this.#read(subject, message);
    // NATS lets a worker publish only its own heartbeats.
    if (beat === undefined || !subject.endsWith(`.${beat.worker}`) || !isCompatible(beat.v)) return;
    const key = keyOf(beat);
    if (beat.state === 'stopped') {
      this.#forget(key, true);
      this.#silence.end(key);
      return;
    }
    this.#gone.delete(key);
    if (!this.#beats.has(key)) {
      if (this.all.filter(({ worker }) => worker === beat.worker).length >= MOST_STARTS) return;
      this.logger.info('A worker is there', { worker: beat.worker });
    }
    this.#beats.set(key, beat);
    this.#all = undefined;
    this.#noteBytecode(key, bytecodeTagOf(beat.about));
    this.#silence.hear(key);
    this.#onBeat(beat);
    for (const resolve of this.#onFirst.splice(0)) resolve(beat);
  }

  #lose(key: string): void {
    const beat = this.#forget(key, false);
    if (beat) this.logger.error('A worker is lost', { worker: beat.worker, state: beat.state });
    this.#notify(key, 'onLost');
  }

  #forget(key: string, wasStopped: boolean): Beat | undefined {
    const beat = this.#beats.get(key);
    if (beat === undefined) return undefined;
    this.#beats.delete(key);
    this.#all = undefined;
    this.#onGone(key);
    this.#noteBytecode(key, undefined);
    this.#gone.set(key, { beat, since: performance.now(), wasStopped });
    if (this.#gone.size > MOST_REMEMBERED) this.#gone.delete(this.#gone.keys().next().value!);
    if (wasStopped) this.logger.info('A worker has left', { worker: beat.worker });
    return beat;
  }

  #noteBytecode(key: string, tag: string | undefined): void {
    if (this.#bytecodeTags.get(key) === tag) return;
    if (tag === undefined) this.#bytecodeTags.delete(key);
    else this.#bytecodeTags.set(key, tag);
    const [first, ...more] = new Set(this.#bytecodeTags.values());
    this.#bytecodeTag = more.length === 0 ? first : undefined;
  }

  #notify(key: string, event: keyof Watching): void {
    for (const watching of [...(this.#watching.get(key) ?? [])]) watching[event]?.();
  }
}
