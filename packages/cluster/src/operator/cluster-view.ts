import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { bytesOf } from '../connection.js';
import { AnyBeat, Beat, FrontBeat } from '../protocol/beats.js';
import { parse } from '../protocol/messages.js';
import { contentOf } from '../protocol/signing.js';
import { keyOf, type Subjects, type WorkerKey } from '../protocol/subjects.js';
import { BEAT_MS, WORKER_SILENCE_MS } from '../protocol/timing.js';
import { type ClusterStatus, type SeenWorker, seenFront, seenWorker, statusOf } from './cluster-status.js';

interface Heard<T> {
  beat: T;
  at: number;
}

/** Everybody is heard within this time. */
const SETTLE_MS = 2 * BEAT_MS + 200;
/** What is silent for so long is forgotten. */
const FORGET_MS = 60_000;
const MOST_NAMES = 10_000;

/** Hears everybody in a cluster, of any version. The figures are for people: nothing depends on them. */
export class ClusterView {
  readonly #workers = new Map<string, Heard<z.infer<typeof AnyBeat> & Partial<Beat>>>();
  readonly #fronts = new Map<string, Heard<FrontBeat>>();
  /** Those whom the NATS server does not let these credentials hear. */
  readonly #unheard = new Set<'workers' | 'front ends'>();
  readonly #since = performance.now();
  readonly #onHeard = new Set<() => void>();

  constructor(
    connection: NatsConnection,
    subjects: Subjects,
    private readonly cluster: string,
  ) {
    connection.subscribe(subjects.beats, {
      callback: (error, message) => {
        if (error === null) this.#hearWorker(message.subject, bytesOf(message));
        else this.#unheard.add('workers');
      },
    });
    connection.subscribe(subjects.fronts, {
      callback: (error, message) => {
        if (error === null) this.#hearFront(message.subject, bytesOf(message));
        else this.#unheard.add('front ends');
      },
    });
  }

  /** Resolves when everybody had the time to be heard. */
  settled(): Promise<void> {
    const leftMs = SETTLE_MS - (performance.now() - this.#since);
    return new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
  }

  /** Calls at every heartbeat of a worker. Returns a function that ends it. */
  onHeard(call: () => void): () => void {
    this.#onHeard.add(call);
    return () => this.#onHeard.delete(call);
  }

  /** The starts of a worker that are heard. */
  named(name: string): (WorkerKey & Partial<Beat> & Pick<Beat, 'state'>)[] {
    return [...this.#workers.values()]
      .map(({ beat }) => beat)
      .filter(({ worker, state }) => worker === name && state !== 'stopped');
  }

  isSilent(worker: WorkerKey): boolean {
    const heard = this.#workers.get(keyOf(worker));
    return heard === undefined || performance.now() - heard.at > WORKER_SILENCE_MS;
  }

  status(): ClusterStatus {
    return statusOf(this.cluster, this.#seenWorkers(), this.#heardFronts().map(seenFront), this.#unheard);
  }

  #seenWorkers(): SeenWorker[] {
    const now = performance.now();
    const heard = [...this.#workers.values()].filter(({ beat }) => beat.state !== 'stopped');
    const all = heard.map(({ beat, at }) => seenWorker(beat, now - at));
    const back = new Set(all.filter(({ state }) => state !== 'silent').map(({ name }) => name));
    // A worker that was started again is not missed.
    const seen = all.filter(({ name, state }) => state !== 'silent' || !back.has(name));
    const names = new Set(seen.map(({ name }) => name));
    // Those that fell silent before this view began.
    for (const { lost = [] } of this.#heardFronts())
      for (const { worker: name, forMs } of lost) {
        if (names.has(name) || [...this.#workers.values()].some(({ beat }) => beat.worker === name)) continue;
        names.add(name);
        seen.push({ name, state: 'silent', silentMs: forMs, version: '', protocol: 0, details: null });
      }
    return seen.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  #heardFronts(): FrontBeat[] {
    const now = performance.now();
    return [...this.#fronts.values()]
      .filter(({ beat, at }) => !beat.isClosing && now - at < WORKER_SILENCE_MS)
      .map(({ beat }) => beat);
  }

  #hearWorker(subject: string, message: Buffer): void {
    const beat = parse(Beat, message) ?? parse(AnyBeat, message);
    if (beat === undefined || !subject.endsWith(`.${beat.worker}`)) return;
    remember(this.#workers, keyOf(beat), beat);
    for (const call of [...this.#onHeard]) call();
  }

  #hearFront(subject: string, message: Buffer): void {
    const beat = parse(FrontBeat, contentOf(message));
    if (beat && subject.endsWith(`.${beat.front}`)) remember(this.#fronts, beat.front, beat);
  }
}

function remember<T>(all: Map<string, Heard<T>>, key: string, beat: T): void {
  const at = performance.now();
  for (const [other, heard] of all) if (at - heard.at > FORGET_MS) all.delete(other);
  if (all.has(key) || all.size < MOST_NAMES) all.set(key, { beat, at });
}
