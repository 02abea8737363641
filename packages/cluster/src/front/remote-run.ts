import { PungiError } from '@pungi/core/base';
import type { Job, OutputSink, RunEnd } from '@pungi/core/engine';
import { type FrameKind, readAttached } from '../protocol/frames.js';
import { End, type GoInputs, type Placing, parse, type Received, Refusal } from '../protocol/messages.js';
import type { WorkerKey } from '../protocol/subjects.js';
import {
  AGAIN_MS,
  FRONT_SILENCE_MS,
  LOAD_BYTES_PER_MS,
  OUTAGE_MS,
  OVERDUE_MS,
  START_MS,
} from '../protocol/timing.js';
import { FrameReceiver } from './frame-receiver.js';
import type { FrontLink } from './link.js';
import type { Listening } from './replies.js';

export interface RunOrder {
  claim: string;
  n: number;
  run: string;
  inputs: GoInputs;
  limits: Job['limits'];
  artifactBytes: number;
  /** Its slot is reserved: it starts at once. The runs of a session may wait for one. */
  hasSlot: boolean;
  /** Without a claim of the worker. */
  placing?: Placing | undefined;
}

export interface RunListeners {
  sink: OutputSink;
  /** Called when the order was followed or refused, or will not be. */
  onAnswered: () => void;
  /** Called when the worker says that it has started the run. */
  onConfirmed?: (() => void) | undefined;
}

/** What the worker holds after the run. */
export interface Held {
  isKept: boolean;
  checkpoints: readonly string[];
}

export interface RemoteEnd extends RunEnd, Held {
  /** The worker did not take a run that it had not claimed. */
  isUnplaced?: true;
}

/** Besides output and files: displays and the report. */
const MOST_OTHER_BYTES = 128 * 1024 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const UNREACHED = 'NATS cannot be reached';
const LEFT = 'it had left';
const NOTHING: Held = { isKept: false, checkpoints: [] };

/** One run on a worker, from its order to its end, or until the worker is lost. */
export class RemoteRun {
  readonly ended: Promise<RemoteEnd>;
  readonly #subject: string;
  readonly #signed: Buffer;
  readonly #listening: Listening;
  readonly #receiver: FrameReceiver;
  readonly #unwatch: () => void;
  readonly #again: NodeJS.Timeout;
  #due: NodeJS.Timeout | undefined;
  /** The bytes that are held until the run has ended. */
  #held = 0;
  #sent = 0;
  #hasStarted = false;
  #isCancelled = false;
  #isOver = false;
  #wasHeard = false;
  #resolve!: (end: RemoteEnd) => void;
  #reject!: (error: PungiError) => void;

  /** Throws INVALID_INPUT if the job is too large. */
  constructor(
    private readonly link: FrontLink,
    private readonly worker: WorkerKey,
    private readonly order: RunOrder,
    private readonly listeners: RunListeners,
  ) {
    const { inputs, limits, artifactBytes, hasSlot, ...numbered } = order;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#receiver = new FrameReceiver({
      onFrame: (kind, payload) => this.#take(kind, payload),
      ack: (next) => this.link.order(this.worker, 'ack', { received: [this.#received(next)] }),
      onTooMuch: () => this.#lose('it sent more than a run can'),
      mostBytes: limits.outputHardBytes + 2 * artifactBytes + MOST_OTHER_BYTES,
      hold: (bytes) => this.#hold(bytes),
    });
    this.#listening = link.replies.listen({
      onMessage: (message) => {
        this.#wasHeard = true;
        this.#receiver.receive(message);
      },
      onNobody: () => this.#noteNobody(),
    });
    this.#subject = link.subjects.order(worker, 'go');
    try {
      const { token } = this.#listening;
      const received = link.acks.take(worker);
      const more = received && { received };
      this.#signed = link.sign(this.#subject, { front: link.front, token, ...numbered, ...inputs, ...more });
    } catch (error) {
      this.#listening.stop();
      throw error;
    }
    this.#unwatch = link.workers.watch(worker, {
      onLost: () => this.#lose('it is not heard any more'),
      // Others end at their time.
      onOutage: () => this.#due === undefined && this.#lose(UNREACHED),
    });
    this.#again = setInterval(() => this.#repeat(), AGAIN_MS);
    this.#send();
    if (hasSlot)
      this.#expectWithin(START_MS + bytesOf(inputs) / LOAD_BYTES_PER_MS, 'it did not start the run');
    if (link.workers.isLost(worker)) this.#lose('it is not heard any more');
  }

  cancel(): void {
    this.#isCancelled = true;
    this.link.stayUntil(this.ended);
    this.#tellCancel();
    this.#expectWithin(OVERDUE_MS, 'it did not end the run, which was cancelled');
  }

  /** A worker that is heard, but does not do its part, is lost as well. */
  #expectWithin(ms: number, otherwise: string): void {
    const dueMs = Math.min(ms, LONGEST_TIMER_MS);
    this.#judgeAfter(dueMs, performance.now() + dueMs, otherwise);
  }

  #judgeAfter(ms: number, dueAt: number, otherwise: string): void {
    clearTimeout(this.#due);
    this.#due = setTimeout(() => void this.#judge(dueAt, otherwise), ms);
  }

  /** Waits for what is on its way first. While NATS cannot be reached nothing arrives, and what is sent again takes a moment after that. */
  async #judge(dueAt: number, otherwise: string): Promise<void> {
    const due = this.#due;
    const { reach } = this.link;
    const isReached = await reach.answers();
    if (this.#due !== due || this.#isOver) return;
    if (isReached && reach.upMs >= START_MS) this.#break(otherwise);
    else if (Math.max(performance.now() - dueAt, reach.downMs) > OUTAGE_MS) this.#lose(UNREACHED);
    else this.#judgeAfter(AGAIN_MS, dueAt, otherwise);
  }

  #hold(bytes: number): boolean {
    const isHeld = this.link.holdings.take(this.worker.worker, bytes);
    if (isHeld) this.#held += bytes;
    return isHeld;
  }

  #send(): void {
    this.#sent += 1;
    this.link.sendSigned(this.#subject, this.#signed, this.#listening.subject);
  }

  /** Messages can be lost when a NATS server ends. A worker follows the same order once, and says if the run has ended. */
  #repeat(): void {
    if (!this.#hasStarted) this.#send();
    else if (!this.#wasHeard) {
      const { token } = this.#listening;
      this.link.order(this.worker, 'ack', { received: [{ ...this.#received(this.#receiver.next), token }] });
    }
    this.#wasHeard = false;
    if (!this.#isCancelled) return;
    // Nobody waits for its outcome.
    if (this.link.reach.downMs > FRONT_SILENCE_MS) this.#lose(UNREACHED);
    else this.#tellCancel();
  }

  #received(next: number): Received {
    const { claim, n } = this.order;
    return { claim, n, next };
  }

  #tellCancel(): void {
    const { claim, n } = this.order;
    this.link.order(this.worker, 'cancel', { claim, n });
  }

  /** That nobody got the order is proof only of the first one: a later one may follow one that was received. */
  #noteNobody(): void {
    if (this.#sent > 1 || this.#hasStarted) return;
    if (this.order.placing !== undefined) {
      this.#passBy(LEFT);
      return;
    }
    // A worker that is there could say so of every run that it claims.
    this.link.trust.lower(this.worker.worker, LEFT);
    this.#settleLost(false, LEFT);
  }

  #take(kind: FrameKind, payload: Buffer): void {
    if (kind === 'started') this.#start();
    else if (kind === 'refused') this.#refuse(payload);
    else if (kind === 'end') this.#end(payload);
    else if (this.#hasStarted) void this.listeners.sink(kind, payload);
  }

  #start(): void {
    this.#hasStarted = true;
    this.listeners.onAnswered();
    this.listeners.onConfirmed?.();
    if (this.#isCancelled) return;
    this.#expectWithin(this.order.limits.timeoutMs + OVERDUE_MS, 'it did not report how the run ended');
  }

  #end(payload: Buffer): void {
    const read = readAttached(payload);
    const end = read && parse(End, read.json);
    if (!read || !end || !this.#hasStarted) {
      this.#lose('its report cannot be read');
      return;
    }
    this.#ackLast();
    if (end.abandoned !== undefined) {
      this.#settleLost(true, end.abandoned);
      return;
    }
    this.link.trust.restore(this.worker.worker);
    const { facts, report, summary, isKept, checkpoints } = end;
    const { attached } = read;
    this.#settle({ facts, report, summary, isKept, checkpoints, ...(attached.length > 0 && { attached }) });
  }

  #refuse(payload: Buffer): void {
    const refusal = parse(Refusal, payload);
    if (refusal?.reason === 'used') {
      this.#lose(refusal.message);
      return;
    }
    if (this.#hasStarted) {
      this.#break('it refused the run after it had started it');
      return;
    }
    this.#ackLast();
    if (refusal?.reason === 'unplaced' && this.order.placing !== undefined) {
      this.#passBy(refusal.message);
      return;
    }
    if (refusal?.reason !== 'invalid') {
      const why = refusal?.message ?? 'it refused the run';
      if (!this.#isCancelled) this.link.trust.lower(this.worker.worker, why);
      this.#settleLost(false, why);
      return;
    }
    this.#stop();
    this.#reject(new PungiError('INTERNAL_ERROR', `The worker ${this.worker.worker} ${refusal.message}.`));
  }

  /** Another one gets a run that it did not take. */
  #passBy(why: string): void {
    this.link.placement.passBy(this.worker, this.order.placing?.isForSession);
    this.#settle({ ...this.#lost(false, why), isUnplaced: true });
  }

  #ackLast(): void {
    this.link.acks.add(this.worker, this.#received(this.#receiver.next));
  }

  /** It has not done what it claimed. */
  #break(why: string): void {
    this.link.trust.lower(this.worker.worker, why);
    this.#lose(why);
  }

  #lose(why: string): void {
    this.#settleLost(this.#hasStarted ? true : null, why);
  }

  #settleLost(started: boolean | null, why: string): void {
    this.#settle(this.#lost(started, why));
  }

  #lost(started: boolean | null, why: string): RemoteEnd {
    const message = `The run was lost on the worker ${this.worker.worker} (${why}) ${SINCE[`${started}`]}`;
    return { facts: null, lost: { started, message }, report: undefined, summary: null, ...NOTHING };
  }

  #settle(end: RemoteEnd): void {
    this.#stop();
    this.#resolve(end);
  }

  #stop(): void {
    this.#isOver = true;
    this.listeners.onAnswered();
    clearInterval(this.#again);
    clearTimeout(this.#due);
    this.link.holdings.giveBack(this.worker.worker, this.#held);
    this.#held = 0;
    this.#receiver.stop();
    this.#listening.stop();
    this.#unwatch?.();
  }
}

/** What the worker has to fetch before it starts. */
const bytesOf = ({ storedJob, sources = [] }: GoInputs): number =>
  sources.reduce((sum, { input }) => sum + input.bytes, storedJob?.bytes ?? 0);

const SINCE = {
  true: 'while it was under way: how it ended is not known.',
  false: 'before it had started: start it again.',
  null: 'before its start was confirmed: whether it had started is not known.',
};
