import { randomBytes } from 'node:crypto';
import { setTimeout as timeout } from 'node:timers/promises';
import { ERROR_CODES, type ErrorCode, PungiError } from '@pungi/core/base';
import { type EnvironmentRef, GenerationGone, type WorkerSpec } from '@pungi/core/engine';
import { deferred } from '../deferred.js';
import { hasRoomForSession } from '../protocol/beats.js';
import {
  type Needed,
  type OfferAnswer,
  OfferAnswer as OfferAnswerSchema,
  parse,
} from '../protocol/messages.js';
import { ANY, ARCH, type Labels, meets, needToken, placeOf } from '../protocol/subjects.js';
import {
  BEAT_MS,
  BUILD_MS,
  OFFER_AGAIN_MS,
  OFFER_MS,
  PREPARE_MS,
  SPILL_MS,
  WORKER_SILENCE_MS,
} from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';
import { Lines } from './lines.js';
import type { FrontLink } from './link.js';
import type { Claim } from './remote-worker.js';

/**
 * A worker that has just become full refuses; while all are full, nobody answers. `declined`: the worker is not heard or not
 * trusted, and another one may be free. `crowded`: it has not confirmed what it has claimed before.
 */
type NotClaimed = 'full' | 'nobody' | 'declined' | 'crowded';
/** Offers in a row without a claim, until it is worth waiting for a moment. */
const MOST_IN_VAIN: Record<NotClaimed, number> = { nobody: 1, crowded: 1, full: 5, declined: 100 };
/** Workers that must fail before the run does: one of them may be broken, or lie. */
const MOST_FAILED = 2;

interface Failed {
  worker: string;
  error: PungiError;
}

/** A worker that meets a need is heard within this time, if there is one. */
const UNHEARD_MS = WORKER_SILENCE_MS;

/** Bounds the wait for a worker. The time in which one builds an environment does not count. */
class Patience {
  readonly #ended = new AbortController();
  readonly #began = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly waitMs: number | undefined) {
    this.resume();
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  get waitedMs(): number {
    return performance.now() - this.#began;
  }

  pause(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    if (this.waitMs === undefined) return;
    this.#timer ??= setTimeout(() => this.#ended.abort(), this.waitMs);
  }
}

/** Offers runs to workers. Offers run nothing, so they are repeated until one is claimed. */
export class Offers {
  readonly #lines = new Lines();
  #claiming = 0;
  readonly #again: NodeJS.Timeout;

  constructor(private readonly link: FrontLink) {
    link.onFree(() => this.#lines.wakeFirst());
    link.placement.onRoom(() => this.#lines.wakeFirst());
    this.#again = setInterval(() => this.#lines.wakeFirst(), OFFER_AGAIN_MS);
  }

  /** How many wait for a worker. */
  get waiting(): number {
    return this.#claiming;
  }

  /**
   * Returns a worker for a run: one that should have room, or one that has claimed it. Rejects with SERVER_BUSY after `waitMs`, with
   * what a worker lacks, or with the signal's reason.
   */
  async find(spec: WorkerSpec, signal: AbortSignal): Promise<Claim> {
    const isWaiting = this.#lines.has(lineOf(spec));
    return (isWaiting ? undefined : this.#place(spec)) ?? this.#wait(spec, signal, true);
  }

  /** Returns a worker that has claimed the run; rejects as `find`. */
  claim(spec: WorkerSpec, signal: AbortSignal): Promise<Claim> {
    return this.#wait(spec, signal, false);
  }

  #place(spec: WorkerSpec): Claim | undefined {
    const { placement } = this.link;
    const beat = placement.isCrowded ? undefined : placement.choose(spec);
    if (beat === undefined) return undefined;
    const { worker, incarnation, tier, about } = beat;
    const claim = randomBytes(16).toString('base64url');
    return {
      worker,
      incarnation,
      tier,
      about,
      claim,
      placing: neededOf(spec),
      slot: placement.reserve(beat),
    };
  }

  async #wait(spec: WorkerSpec, signal: AbortSignal, mayPlace: boolean): Promise<Claim> {
    this.#claiming += 1;
    const patience = new Patience(spec.waitMs);
    try {
      return await this.#claim(spec, signal, patience, mayPlace);
    } finally {
      this.#claiming -= 1;
      patience.pause();
    }
  }

  async #claim(spec: WorkerSpec, signal: AbortSignal, patience: Patience, mayPlace: boolean): Promise<Claim> {
    const { labels = {} } = spec;
    const need = lineOf(spec);
    const began = performance.now();
    const waited = patience.signal;
    const stop = AbortSignal.any([signal, waited]);
    // Those that wait already come first.
    if (this.#lines.has(need)) await this.#lines.wait(need, stop, false);
    const failed = new Set<string>();
    for (let inVain = 0; ; ) {
      if (signal.aborted) throw signal.reason;
      if (waited.aborted || performance.now() - this.link.startedAt > UNHEARD_MS) this.#refuseUnmet(labels);
      if (waited.aborted) throw this.#noneFree(spec.waitMs!);
      if (this.link.placement.isCrowded) {
        await this.#lines.wait(need, stop, true);
        continue;
      }
      const answer = (mayPlace && this.#place(spec)) || (await this.#offerWarm(spec, stop, patience));
      if (typeof answer === 'object' && 'claim' in answer) {
        this.#lines.noteClaim(need);
        return answer;
      }
      patience.resume();
      inVain += 1;
      if (answer === 'full' && spec.isForSession && this.#areFullOfSessions(labels, began)) {
        await pause(BEAT_MS / 4, stop);
        continue;
      }
      if (typeof answer === 'object' && answer.error instanceof GenerationGone) throw answer.error;
      if (typeof answer === 'object' && this.#hasFailed(failed.add(answer.worker), labels))
        throw answer.error;
      if (inVain < MOST_IN_VAIN[typeof answer === 'object' ? 'declined' : answer]) continue;
      inVain = 0;
      await this.#lines.wait(need, stop, true);
    }
  }

  #hasFailed({ size }: ReadonlySet<string>, labels: Labels): boolean {
    const able = this.link.workers.all.filter((worker) => meets(worker, labels));
    const names = new Set(able.map(({ worker }) => worker));
    return size >= Math.min(MOST_FAILED, names.size);
  }

  close(): void {
    clearInterval(this.#again);
    this.#lines.close();
  }

  /** Workers that have the environment come first. While all of them are busy, another one builds it only after a moment. */
  async #offerWarm(
    spec: WorkerSpec,
    stop: AbortSignal,
    patience: Patience,
  ): Promise<Claim | Failed | NotClaimed> {
    const { ref } = spec;
    if (ref === undefined) return this.#offer(spec, ANY, stop, patience);
    const answer = await this.#offer(spec, ref.generation, stop, patience);
    if (typeof answer === 'object' || stop.aborted) return answer;
    if (patience.waitedMs < SPILL_MS && this.#isWarm(ref)) return answer;
    return this.#offer(spec, ANY, stop, patience);
  }

  #isWarm({ generation }: EnvironmentRef): boolean {
    return this.link.workers.all.some(
      ({ state, generations }) => state === 'ready' && generations.includes(generation),
    );
  }

  async #offer(
    spec: WorkerSpec,
    generation: string,
    stop: AbortSignal,
    patience: Patience,
  ): Promise<Claim | Failed | NotClaimed> {
    const { labels = {} } = spec;
    const { promise, resolve: settle } = deferred<Claim | Failed | NotClaimed>();
    let isSettled = false;
    const resolve = (answer: Claim | Failed | NotClaimed) => {
      isSettled = true;
      settle(answer);
    };
    let unwatch: (() => void) | undefined;
    let timer = setTimeout(() => resolve('nobody'), OFFER_MS);
    const listening = this.link.replies.listen({
      onNobody: () => resolve('nobody'),
      onMessage: (message) => {
        const answer = parse(OfferAnswerSchema, message);
        if (answer === undefined || isSettled) return;
        if (!this.#isBelieved(answer)) {
          this.#decline(answer);
          resolve('declined');
        } else if (answer.kind === 'claim') resolve(this.#accept(answer));
        else if (answer.kind === 'refused') resolve(failureOf(answer));
        else if (unwatch === undefined) {
          clearTimeout(timer);
          if (answer.isBuilding) patience.pause();
          timer = setTimeout(() => resolve('nobody'), answer.isBuilding ? BUILD_MS : PREPARE_MS);
          unwatch = this.link.workers.watch(answer, { onLost: () => resolve('nobody') });
        }
      },
    });
    const abort = () => resolve('nobody');
    stop.addEventListener('abort', abort, { once: true });
    try {
      const subject = this.link.subjects.offer({ generation, ...placeOf(labels) });
      const { front } = this.link;
      const offer = { v: PROTOCOL, front, token: listening.token, ...neededOf(spec) };
      this.link.send(subject, offer, listening.subject);
      return await promise;
    } finally {
      clearTimeout(timer);
      unwatch?.();
      listening.stop();
      stop.removeEventListener('abort', abort);
    }
  }

  /** Throws SERVER_BUSY if no worker meets the need: waiting for a free one would be in vain. */
  #refuseUnmet(labels: Labels): void {
    const { all } = this.link.workers;
    if (Object.keys(labels).length === 0 || all.some((worker) => meets(worker, labels))) return;
    const text = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const flags = text.filter((label) => !label.startsWith(`${ARCH}=`)).map((label) => ` --label ${label}`);
    const place = labels[ARCH] === undefined ? '' : ` on a machine with ${labels[ARCH]}`;
    throw new PungiError(
      'SERVER_BUSY',
      `No worker has ${text.join(' and ')} (${all.length} connected): start one with pungi worker${flags.join('')}${place}.`,
      { fault: 'caller' },
    );
  }

  /**
   * Whether no worker may hold another session, by their last heartbeats. Throws SERVER_BUSY if these have come since then: it might be
   * long until a session ends. Older ones may not know of one that has just ended.
   */
  #areFullOfSessions(labels: Labels, since: number): boolean {
    const { workers, placement } = this.link;
    const able = workers.all.filter((worker) => worker.state === 'ready' && meets(worker, labels));
    if (able.length === 0 || able.some(hasRoomForSession)) return false;
    if (!able.every((worker) => placement.heardAt(worker) > since)) return true;
    const those = able.length === 1 ? 'The worker' : `Each of the ${able.length} workers`;
    throw new PungiError(
      'SERVER_BUSY',
      `${those} that could hold the session has as many as it may (MAX_SESSIONS there); end one, or start more with pungi worker.`,
    );
  }

  /** NATS lets nobody else publish a worker's heartbeats, and nobody else knows which start they name. */
  #isBelieved(answer: OfferAnswer): boolean {
    const { all } = this.link.workers;
    // Workers of other versions are not heard. If there is no other, that is the reason.
    if (answer.kind === 'refused' && answer.reason === 'version' && all.length === 0) return true;
    return this.link.workers.isHeard(answer) && this.link.trust.isTrusted(answer.worker);
  }

  /** Its order counts from now on: other claims may have arrived together with this one. */
  #accept(claim: Claim): Claim | 'crowded' {
    const { placement } = this.link;
    if (!placement.isCrowdedAt(claim.worker)) return { ...claim, slot: placement.reserve(claim) };
    this.#release(claim);
    return 'crowded';
  }

  /** Its slot is free again at once. */
  #decline(answer: OfferAnswer): void {
    if (answer.kind === 'claim') this.#release(answer);
  }

  #release(claim: Claim): void {
    this.link.order(claim, 'release', { claim: claim.claim });
  }

  #noneFree(waitMs: number): PungiError {
    const count = this.link.workers.all.length;
    const those = count === 0 ? 'none is connected' : `${count} connected, all of them busy`;
    return new PungiError(
      'SERVER_BUSY',
      `No worker of the cluster was free within ${waitMs} ms (${those}); try again shortly, or start more with pungi worker.`,
    );
  }
}

/** Resolves also if the signal comes first. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  timeout(ms, undefined, { signal }).catch(() => {});

/** Runs that only some workers can take wait apart from the others, and hold none of them back. */
const lineOf = ({ labels = {}, isForSession }: WorkerSpec): string =>
  `${needToken(labels)}${isForSession ? ' session' : ''}`;

/** Returns what a worker has to know of a run before it gets it. */
function neededOf({ ref, poolSpec, isForSession }: WorkerSpec): Needed {
  const needed: Needed = { ...(isForSession && { isForSession }) };
  if (poolSpec) {
    const { preload, allowedHosts, isRaised } = poolSpec;
    needed.poolSpec = { preload: [...preload], allowedHosts: [...allowedHosts], isRaised };
  }
  if (ref) needed.environment = { name: ref.environment, generation: ref.generation };
  return needed;
}

/** A worker that is full is no error: another one may be free. */
function failureOf({ worker, reason, code, message }: OfferAnswer & { kind: 'refused' }): Failed | 'full' {
  if (reason === 'full') return 'full';
  if (reason === 'gone') return { worker, error: new GenerationGone('The environment') };
  const isKnown = (ERROR_CODES as readonly string[]).includes(code ?? '');
  return { worker, error: new PungiError(isKnown ? (code as ErrorCode) : 'INTERNAL_ERROR', message) };
}
