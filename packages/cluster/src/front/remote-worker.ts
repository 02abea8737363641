import { PungiError } from '@pungi/core/base';
import type { Limits, Tier } from '@pungi/core/contract';
import type { Copied, Job, OutputSink, RunEnd, Worker, WorkerAbout, WorkerCopies } from '@pungi/core/engine';
import { bytecodeTagOf, GenerationGone } from '@pungi/core/engine';
import { isUnanswered } from '../connection.js';
import { deferred } from '../deferred.js';
import { type Copy, CopyAnswer, type GoInputs, type Placing, parse } from '../protocol/messages.js';
import type { WorkerKey } from '../protocol/subjects.js';
import { AGAIN_MS, HOLD_MS, OVERDUE_MS } from '../protocol/timing.js';
import { JobSender } from './job-sender.js';
import type { FrontLink } from './link.js';
import type { Slot } from './placement.js';
import { type Held, type RemoteEnd, RemoteRun, type RunListeners } from './remote-run.js';

export interface Claim extends WorkerKey {
  claim: string;
  tier: Tier;
  about: WorkerAbout;
  /** Needs of the run that the first order names if it also makes the claim: the worker may have no room. */
  placing?: Omit<Placing, 'beat'>;
  /** That was reserved when the worker was chosen, or had claimed the run. A fork has none. */
  slot?: Slot;
}

const NOTHING_HELD: Held = { isKept: false, checkpoints: [] };
const NOT_RUN: RunEnd = { facts: null, report: undefined, summary: null };
const NOT_STORED = 'NATS did not store the inputs of the run in time, so it was not started: start it again.';
const GONE = ['its worker was lost'];

/** A worker of another machine, which its front end has claimed. */
export class RemoteWorker implements Worker, WorkerCopies {
  readonly copies: WorkerCopies = this;
  #held = NOTHING_HELD;
  #n = 0;
  #isReleased = false;
  #hasRun = false;
  #slot: Slot | undefined;

  constructor(
    private readonly link: FrontLink,
    private claim: Claim,
    /** Claims a worker for a run that had no room on the one that was chosen. */
    private readonly claimAnother: (signal: AbortSignal) => Promise<Claim>,
    held: Held = NOTHING_HELD,
  ) {
    this.#hold(held);
    this.#hasRun = held.isKept;
    this.#slot = claim.slot;
  }

  get about(): WorkerAbout {
    return this.claim.about;
  }

  get tier(): Tier {
    return this.claim.tier;
  }

  get isKept(): boolean {
    return this.#held.isKept && !this.#isLost && !this.#isDraining;
  }

  get goneBecause(): string | undefined {
    const { worker } = this.claim;
    if (this.#isDraining) return `Its worker, ${worker}, is being drained.`;
    if (!this.#isLost) return undefined;
    return this.link.workers.gone(this.claim)?.wasStopped
      ? `Its worker, ${worker}, was drained or stopped.`
      : `Its worker, ${worker}, is not heard any more.`;
  }

  get checkpoints(): readonly string[] {
    return this.#isLost || this.#isDraining ? [] : this.#held.checkpoints;
  }

  /** Sessions end with their run then. */
  get #isDraining(): boolean {
    return this.link.workers.stateOf(this.claim) === 'draining';
  }

  get #isLost(): boolean {
    return this.link.workers.isLost(this.claim);
  }

  async run(
    job: Job,
    runId: string,
    sink: OutputSink,
    signal: AbortSignal,
    onConfirmed?: () => void,
  ): Promise<RunEnd> {
    refuseLocal(job);
    const sender = new JobSender(this.link.inputs);
    try {
      const inputs = await this.#holding(() => sender.send(this.#fitting(job)));
      if (signal.aborted) return NOT_RUN;
      const run = () => this.#run(job, inputs, runId, { sink, onConfirmed }, signal);
      const end = await run();
      if (!end.isUnplaced) return end;
      const asked = performance.now();
      if (!(await this.#moves(signal))) return end;
      const waitedMs = performance.now() - asked;
      return { ...(await run()), waitedMs };
    } catch (error) {
      if (!isUnanswered(error)) throw error;
      return { ...NOT_RUN, lost: { started: false, message: NOT_STORED } };
    } finally {
      void sender.remove().catch(() => {}); // the bucket forgets them after a time
    }
  }

  /** Returns whether it has another worker, which has claimed the run. Throws SERVER_BUSY: the run has waited for as long as it may. */
  async #moves(signal: AbortSignal): Promise<boolean> {
    try {
      this.claim = await this.claimAnother(signal);
    } catch (error) {
      if (signal.aborted) return false;
      const isOther = error instanceof PungiError && error.code !== 'SERVER_BUSY';
      if (isOther && !(error instanceof GenerationGone)) return false;
      throw error;
    }
    this.#n = 0;
    this.#hasRun = false;
    this.#slot = this.claim.slot;
    return true;
  }

  async #run(
    { limits, artifactBytes = 0 }: Job,
    inputs: GoInputs,
    run: string,
    listeners: Omit<RunListeners, 'onAnswered'>,
    signal: AbortSignal,
  ): Promise<RunEnd & Pick<RemoteEnd, 'isUnplaced'>> {
    this.#n += 1;
    const { claim } = this.claim;
    const hasSlot = !this.#hasRun;
    const placing = hasSlot ? this.#placing : undefined;
    const order = { claim, n: this.#n, run, inputs, limits, artifactBytes, hasSlot, placing };
    if (this.#hasRun) this.#slot = this.link.placement.reserveForLater(this.claim);
    const slot = this.#slot!;
    this.#hasRun = true;
    slot.sent();
    const remote = new RemoteRun(this.link, this.claim, order, {
      ...listeners,
      onAnswered: slot.answered,
    });
    const cancel = () => remote.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const { isKept, checkpoints, ...end } = await remote.ended;
      this.#hold({ isKept, checkpoints });
      if (end.lost) this.#dismissWhenBack();
      return end;
    } finally {
      signal.removeEventListener('abort', cancel);
      slot.leave();
    }
  }

  /** Notes what the worker holds for it. */
  #hold(held: Held): void {
    this.#held = held;
    this.link.held.set(this.claim, !this.#isReleased && isAny(held));
  }

  get #placing(): Placing | undefined {
    const { placing } = this.claim;
    return placing && { ...placing, beat: this.link.workers.beatOf(this.claim)?.n ?? 0 };
  }

  /** Keeps the lease during the work, which may store large inputs. */
  async #holding<T>(work: () => Promise<T>): Promise<T> {
    const { claim } = this.claim;
    const timer = setInterval(() => this.link.order(this.claim, 'hold', { claims: [claim] }), HOLD_MS);
    return work().finally(() => clearInterval(timer));
  }

  /** Bytecode fits one version of Python. */
  #fitting(job: Job): Job {
    if (this.link.workers.bytecodeTag === bytecodeTagOf(this.about)) return job;
    const { bytecode: _, ...rest } = job;
    return rest;
  }

  async save(limits: Limits, signal: AbortSignal): Promise<Copied<string>> {
    return copied(await this.#copy({ action: 'save', limits }, signal));
  }

  async load(checkpoint: string, limits: Limits, signal: AbortSignal): Promise<Copied<string>> {
    return copied(await this.#copy({ action: 'load', checkpoint, limits }, signal));
  }

  async fork(limits: Limits, signal: AbortSignal): Promise<Copied<Worker>> {
    const made = copied(await this.#copy({ action: 'fork', limits }, signal));
    if ('obstacles' in made) return made;
    const held = { isKept: true, checkpoints: [] };
    const { placing: _placing, slot: _slot, ...claim } = this.claim;
    return {
      copy: new RemoteWorker(this.link, { ...claim, claim: made.copy }, this.claimAnother, held),
    };
  }

  drop(checkpoint: string): void {
    const { isKept, checkpoints } = this.#held;
    this.#hold({ isKept, checkpoints: checkpoints.filter((name) => name !== checkpoint) });
    void this.#copy({ action: 'drop', checkpoint }, new AbortController().signal);
  }

  /** A worker without a session is free again as soon as its run has ended. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#slot?.answered();
    this.#slot?.leave();
    this.link.held.set(this.claim, false);
    const isClaimed = this.#hasRun || this.claim.placing === undefined;
    if (isClaimed && (!this.#hasRun || isAny(this.#held))) this.#dismiss();
  }

  #dismiss(): void {
    this.link.order(this.claim, 'release', { claim: this.claim.claim });
  }

  /** A worker that was stopped, or cut off, may go on with a run that nobody waits for. */
  #dismissWhenBack(): void {
    this.#dismiss();
    if (!this.#isLost) return;
    const unwatch = this.link.workers.watch(this.claim, {
      onLost: () => {},
      onReturn: () => {
        unwatch();
        this.#dismiss();
      },
    });
  }

  /** Sends an operation until it is answered. A worker that is heard, but does not answer, is lost as well. */
  async #copy(
    order: Pick<Copy, 'action' | 'checkpoint' | 'limits'>,
    signal: AbortSignal,
  ): Promise<CopyAnswer> {
    if (this.#isLost) return { kind: 'copied', isKept: false, checkpoints: [], obstacles: GONE };
    this.#n += 1;
    const { claim } = this.claim;
    const n = this.#n;
    const { promise, resolve } = deferred<CopyAnswer>();
    const listening = this.link.replies.listen({
      onMessage: (message) => {
        const answer = parse(CopyAnswer, message);
        if (answer) resolve(answer);
      },
      onNobody: () => {},
    });
    const send = () => this.link.order(this.claim, 'copy', { claim, n, token: listening.token, ...order });
    const cancel = () => this.link.order(this.claim, 'cancel', { claim, n });
    const lose = () => resolve({ kind: 'copied', isKept: false, checkpoints: [], obstacles: GONE });
    const unwatch = this.link.workers.watch(this.claim, { onLost: lose });
    const again = setInterval(send, AGAIN_MS);
    const late = setTimeout(lose, OVERDUE_MS);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      send();
      const answer = await promise;
      if (order.action !== 'drop') this.#hold(answer);
      return answer;
    } finally {
      clearInterval(again);
      clearTimeout(late);
      unwatch();
      listening.stop();
      signal.removeEventListener('abort', cancel);
    }
  }
}

const isAny = ({ isKept, checkpoints }: Held): boolean => isKept || checkpoints.length > 0;

const copied = ({ copy, obstacles }: CopyAnswer): Copied<string> =>
  copy === undefined ? { obstacles: obstacles ?? GONE } : { copy };

/** Folders and streams of the front end cannot be read by a worker. */
function refuseLocal({ live, place }: Job): void {
  if (live === undefined && place === undefined) return;
  throw new PungiError(
    'INVALID_INPUT',
    'Folders of scripts and live standard input cannot be used in a cluster yet: pass files and stdin in the request.',
  );
}
