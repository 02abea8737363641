import { createHash, type Hash, randomBytes } from 'node:crypto';
import type { Logger } from '@pungi/core/base';
import { PungiError, sha256 } from '@pungi/core/base';
import type { OutputSink, RunEnd, Worker } from '@pungi/core/engine';
import { packAttached } from '../protocol/frames.js';
import { type Copy, type CopyAnswer, type End, type Go, type Needed, pack } from '../protocol/messages.js';
import { LEASE_MS } from '../protocol/timing.js';
import type { SealedStore } from '../sealed-store.js';
import { FrameSender } from './frame-sender.js';
import { loadJob } from './job-loader.js';
import type { Slots } from './slots.js';
import type { Trail } from './trail.js';

/** What the claims of a worker share. */
export interface ClaimParts {
  /** Publishes to the front end of the claim. */
  reply: (front: string, token: string, message: Buffer) => void;
  slots: Slots;
  inputs: SealedStore;
  trail: Trail;
  logger: Logger;
  /** Whether the machine may hold another session. */
  hasRoomForSession: () => boolean;
  /** A claim begins: of an offer, or of a fork. */
  onOpen: (claim: Claim) => void;
  /** It waits for the next run of its session. */
  onIdle: (claim: Claim) => void;
  /** It holds nothing any more, and everything it has sent was received. */
  onClose: (claim: Claim) => void;
}

interface Running {
  n: number;
  run: string;
  sender: FrameSender;
  abort: AbortController;
  hasStarted: boolean;
  /** Of what it wrote to stdout. */
  stdout?: Hash;
  /** Why the worker does not know how it ended: it ended the run by itself, or lost it. */
  abandoned?: string;
}

interface Copying {
  n: number;
  abort: AbortController;
  answer: Buffer | undefined;
}

/**
 * A worker that a front end has claimed: for one run, or for the runs of a session. Its orders are numbered, and each number is
 * followed once, however often it arrives.
 */
export class Claim {
  readonly id: string;
  #n = 0;
  #leave: (() => void) | undefined;
  #lease: NodeJS.Timeout | undefined;
  #leasedUntil = Number.POSITIVE_INFINITY;
  #running: Running | undefined;
  /** Runs that have ended, until the front end has received how. */
  readonly #reported = new Set<Running>();
  #copying: Copying | undefined;
  #isReleased = false;
  #isGivenBack = false;

  /** `leave`: of the slot that its first run has. A fork has none yet, and waits without a lease. */
  constructor(
    private readonly parts: ClaimParts,
    readonly front: string,
    private readonly worker: Worker,
    leave: (() => void) | undefined,
    private readonly need: Needed,
    /** Chosen by a front end that has ordered a run without an offer. */
    id = randomBytes(16).toString('base64url'),
  ) {
    this.id = id;
    this.#leave = leave;
    if (leave) this.#grant();
    parts.onOpen(this);
  }

  /** Whether somebody waits for it: it has a lease, a run, or something to report. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#leave !== undefined || this.#reported.size > 0;
  }

  /** Whether it holds a worker: for a run, for a session, or for the run that comes next. */
  get isInUse(): boolean {
    return !this.#isGivenBack;
  }

  /** Whether it has followed an order. */
  get wasUsed(): boolean {
    return this.#n > 0;
  }

  /** Whether it holds a session, or may after its run. */
  get isForSession(): boolean {
    return !this.#isGivenBack && this.need.isForSession === true;
  }

  /** The name of its environment, if it is not the plain interpreter. */
  get environment(): string | undefined {
    return this.need.environment?.name;
  }

  /** Renews the lease. */
  hold(): void {
    if (performance.now() > this.#leasedUntil) this.release();
    else if (Number.isFinite(this.#leasedUntil)) this.#grant();
  }

  #grant(): void {
    clearTimeout(this.#lease);
    this.#leasedUntil = performance.now() + LEASE_MS;
    this.#lease = setTimeout(() => this.release(), LEASE_MS);
  }

  /** Returns false if the claim cannot run it: nothing is started then. */
  go(order: Go): boolean {
    // After the process was stopped, an order may arrive before the timer of its lease.
    if (performance.now() > this.#leasedUntil) this.release();
    if (order.n <= this.#n) {
      this.#find(order.n)?.sender.resend();
      return true;
    }
    if (this.#isReleased || this.#running || this.#isCopying) return false;
    this.#n = order.n;
    clearTimeout(this.#lease);
    this.#leasedUntil = Number.POSITIVE_INFINITY;
    void this.#run(order);
    return true;
  }

  cancel(n: number): void {
    for (const one of [this.#running, this.#copying]) if (one?.n === n) one.abort.abort();
    if (this.#running?.n === n) this.#running.sender.discard();
  }

  ack(n: number, next: number): void {
    this.#find(n)?.sender.ack(next);
  }

  /** Whatever the claim does, nobody waits for it, or it cannot go on. */
  abandon(why: string): void {
    if (this.#running) this.#running.abandoned = why;
    this.release();
  }

  /** Ends what it holds; a run is cancelled. Whoever releases it waits for no report. */
  release(): void {
    clearTimeout(this.#lease);
    for (const one of [this.#running, ...this.#reported]) one?.sender.stop();
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#copying?.abort.abort();
    if (this.#running) this.cancel(this.#running.n);
    else if (!this.#isCopying) this.#vacate();
  }

  get #isCopying(): boolean {
    return this.#copying !== undefined && this.#copying.answer === undefined;
  }

  copy(order: Copy): void {
    const known = this.#copying;
    if (order.n <= this.#n) {
      if (known?.n === order.n && known.answer) this.parts.reply(this.front, order.token, known.answer);
      return;
    }
    this.#n = order.n;
    void this.#copy(order);
  }

  #find(n: number): Running | undefined {
    return [this.#running, ...this.#reported].find((one) => one?.n === n);
  }

  async #run(order: Go): Promise<void> {
    const { reply, slots, trail, inputs } = this.parts;
    const { n, run, token } = order;
    const sender = new FrameSender((frame) => reply(this.front, token, frame));
    const abort = new AbortController();
    const running: Running = { n, run, sender, abort, hasStarted: false };
    this.#running = running;
    const report = await this.#follow(running, async () => {
      this.#leave ??= await slots.enter(abort.signal);
      const { job, remove } = await loadJob(order, inputs);
      try {
        abort.signal.throwIfAborted();
        const { task } = job;
        const code = sha256(job.code);
        trail.start({
          event: 'started',
          run,
          claim: this.id,
          front: this.front,
          code,
          ...(task && { task }),
        });
        running.hasStarted = true;
        void sender.send('started', Buffer.alloc(0));
        const sink: OutputSink = (stream, data) => {
          if (stream === 'stdout') {
            running.stdout ??= createHash('sha256');
            running.stdout.update(data);
          }
          return sender.send(stream, data);
        };
        const began = performance.now();
        const end = await this.worker.run(job, run, sink, abort.signal);
        const isOverdue = performance.now() - began >= job.limits.timeoutMs;
        // Of a run that was cancelled or took too long, the front end knows why it has no end.
        if (end.facts === null && !abort.signal.aborted && !isOverdue) running.abandoned ??= SANDBOX_LOST;
        return end;
      } finally {
        await remove();
      }
    });
    this.#running = undefined;
    this.#reported.add(running);
    void sender.send(...report);
    sender.finish();
    this.#vacate();
    await sender.done;
    this.#reported.delete(running);
    this.#settle();
  }

  /** Returns the frame that reports how the run ended, or why it was not started. */
  async #follow(
    running: Running,
    work: () => Promise<RunEnd>,
  ): Promise<[kind: 'end' | 'refused', payload: Buffer]> {
    try {
      const end = await work();
      return ['end', this.#endOf(running, end)];
    } catch (error) {
      const { message } = PungiError.from(error);
      const wasCancelled = running.abort.signal.aborted;
      if (!wasCancelled) this.parts.logger.error('A run failed on this worker', { reason: message });
      if (running.hasStarted) {
        if (!wasCancelled) running.abandoned ??= SANDBOX_LOST;
        return ['end', this.#endOf(running, UNKNOWN)];
      }
      return ['refused', pack({ reason: 'no-claim', message: wasCancelled ? 'it was cancelled' : message })];
    }
  }

  #endOf({ run, abandoned, stdout }: Running, { facts, report, attached, summary }: RunEnd): Buffer {
    this.parts.trail.end({
      event: abandoned === undefined ? 'ended' : 'abandoned',
      run,
      claim: this.id,
      front: this.front,
      stdout: stdout?.digest('hex'),
      status: facts?.status ?? null,
      killedFor: facts?.killedFor ?? null,
    });
    const end: End = {
      facts,
      report,
      summary,
      ...(abandoned !== undefined && { abandoned }),
      ...this.#held(),
    };
    return packAttached(pack(end), attached);
  }

  /** The slot is free as soon as the run has ended; what it has sent may be received later. */
  #vacate(): void {
    const { isKept, checkpoints } = this.#held();
    if (!isKept && checkpoints.length === 0) this.#isReleased = true;
    if (this.#isReleased) this.#giveBack();
    this.#leave?.();
    this.#leave = undefined;
    this.#settle();
  }

  #giveBack(): void {
    if (this.#isGivenBack) return;
    this.#isGivenBack = true;
    this.worker.release();
  }

  #settle(): void {
    if (this.isBusy) return;
    if (this.#isReleased) this.parts.onClose(this);
    else this.parts.onIdle(this);
  }

  #held(): { isKept: boolean; checkpoints: string[] } {
    return { isKept: this.worker.isKept, checkpoints: [...(this.worker.copies?.checkpoints ?? [])] };
  }

  async #copy({ n, token, action, checkpoint = '', limits }: Copy): Promise<void> {
    const copying: Copying = { n, abort: new AbortController(), answer: undefined };
    this.#copying = copying;
    const made = await this.#made(action, checkpoint, limits, copying.abort.signal);
    const answer: CopyAnswer = { kind: 'copied', ...this.#held(), ...made };
    copying.answer = pack(answer);
    this.parts.reply(this.front, token, copying.answer);
    // It was released meanwhile.
    if (this.#isReleased && !this.#running) this.#vacate();
  }

  async #made(
    action: Copy['action'],
    checkpoint: string,
    limits: Copy['limits'],
    signal: AbortSignal,
  ): Promise<Pick<CopyAnswer, 'copy' | 'obstacles'>> {
    const { copies } = this.worker;
    if (this.#isReleased || copies === undefined) return { obstacles: [ENDED] };
    if (this.#running !== undefined) return { obstacles: ['it is busy'] };
    const isKnown = copies.checkpoints.includes(checkpoint);
    if (action === 'drop') {
      if (isKnown) copies.drop(checkpoint);
      return { copy: checkpoint };
    }
    if (limits === undefined) return { obstacles: ['the order has no limits'] };
    if (action === 'save') return copies.save(limits, signal);
    if (action === 'load')
      return isKnown
        ? copies.load(checkpoint, limits, signal)
        : { obstacles: ['there is no such checkpoint'] };
    const forked = await copies.fork(limits, signal);
    if ('obstacles' in forked) return forked;
    if (this.#isReleased || !this.parts.hasRoomForSession()) {
      forked.copy.release();
      return { obstacles: [this.#isReleased ? ENDED : SESSIONS_FULL] };
    }
    return { copy: new Claim(this.parts, this.front, forked.copy, undefined, this.need).id };
  }
}

const ENDED = 'its process was ended';
const SESSIONS_FULL = 'its worker holds as many sessions as it may (MAX_SESSIONS there)';

/** On a full disk, for example, or without memory. */
const SANDBOX_LOST = 'the sandbox of the run ended by itself';

const UNKNOWN: RunEnd = { facts: null, report: undefined, summary: null };
