import { availableParallelism } from 'node:os';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { type ForkServer, GenerationGone, type Preload } from '../runtime/fork-server.js';
import type { WorkerAbout } from '../runtime/job.js';
import type { Supervisor } from '../runtime/supervisor.js';

const FIRST_BACKOFF_MS = 100;
const LONGEST_BACKOFF_MS = 10_000;
const FAILURES_UNTIL_REPORTED = 3;
/** The pool counts as quiet after this time without events. */
const QUIET_MS = 100;
/** Runs that follow each other so soon leave no time to warm workers up. */
const BRISK_MS = 3;
/** A supervisor beyond the size of the pool is dismissed if it was not needed for this time: to start one takes as long as ten runs. */
const LINGER_MS = 500;
const CORES = availableParallelism();

export interface PoolOptions {
  size: number;
  idleTimeoutMs: number;
  start: () => ForkServer;
  logger: Logger;
  /** A resource that its fork servers need; released when the pool has closed. */
  supply?: { ready: Promise<unknown>; giveBack: () => Promise<void> };
}

interface Waiting {
  give: (supervisor: Supervisor) => void;
  fail: (error: unknown) => void;
}

/**
 * Workers parked ahead of demand. A supervisor whose run ended parks its next worker itself; the pool orders more
 * while demand grows, dismisses a surplus that lasts, and starts, restarts and retires the fork server.
 */
export class Pool {
  readonly size: number;
  restarts = 0;
  /** What the first worker reported about its interpreter. */
  about: WorkerAbout | undefined;
  #options: PoolOptions;
  #forkServer: ForkServer | undefined;
  #parked: Supervisor[] = [];
  /** Supervisors that have an owner. */
  #busy = new Set<Supervisor>();
  /** Returned after a run; they park their next worker, or end. */
  #preparing = new Set<Supervisor>();
  #ordered = 0;
  #waiting: Waiting[] = [];
  #failures = 0;
  #backoff: NodeJS.Timeout | undefined;
  /** Active runs live below the fork server; the last of them restarts the timer. */
  readonly #idle: NodeJS.Timeout;
  #quiet: NodeJS.Timeout | undefined;
  #trimming: NodeJS.Timeout | undefined;
  /** The smallest number of parked workers since the surplus was last looked at: so many were not needed. */
  #leastParked = 0;
  #lastEnd = 0;
  #lastTake = 0;
  #isBrisk = false;
  #isClosed = false;
  #isDraining = false;
  #isSupplied: boolean;
  #unsuppliable: Error | undefined;
  #onIdle: () => void = () => {};

  /** Starts with a running fork server, or with a new one. */
  constructor(options: PoolOptions, running?: { forkServer: ForkServer; supervisor: Supervisor }) {
    this.#options = options;
    this.size = options.size;
    this.#isSupplied = options.supply === undefined;
    this.#idle = setTimeout(() => {
      if (this.isIdle) void this.#retire();
    }, options.idleTimeoutMs).unref();
    options.supply?.ready.then(
      () => {
        this.#isSupplied = true;
        this.#order();
      },
      (error: Error) => {
        this.#unsuppliable = error;
        this.#fail(error);
      },
    );
    if (running) {
      this.#adopt(running.forkServer);
      this.#welcome(running.supervisor);
    }
    this.#order();
  }

  get parked(): number {
    return this.#parked.length;
  }

  get parking(): number {
    return this.#ordered + this.#preparing.size;
  }

  get busy(): number {
    let busy = 0;
    for (const { isKept } of this.#busy) if (!isKept) busy += 1;
    return busy;
  }

  /** Whether runs arrive faster than workers are parked, or leave no core to warm them up. */
  get isPressed(): boolean {
    return this.#isBrisk || this.#parked.length < this.size / 2 || this.busy >= CORES;
  }

  get isIdle(): boolean {
    return this.#busy.size === 0 && this.#waiting.length === 0;
  }

  /** The result of preloading. */
  get preloads(): readonly Preload[] {
    return this.#forkServer?.preloads ?? [];
  }

  /** Whether its fork server has imported a module, or tried to; true if it has none at the moment. */
  hasTried(module: string): boolean {
    return this.#forkServer?.options.preload.includes(module) ?? true;
  }

  get forkServers(): number {
    return this.#forkServer?.isAlive ? 1 : 0;
  }

  /** Returns a supervisor with a parked worker, or the next one that is ready. Its owner gives it back. */
  async take(signal?: AbortSignal): Promise<Supervisor> {
    if (this.#isClosed) throw new PungiError('CANCELLED', 'Pungi is shutting down.');
    clearTimeout(this.#quiet);
    if (this.#unsuppliable) throw noWorker(this.#unsuppliable);
    const now = performance.now();
    this.#isBrisk = now - this.#lastTake < BRISK_MS;
    this.#lastTake = now;
    const ready = this.#parked.pop();
    this.#leastParked = Math.min(this.#leastParked, this.#parked.length);
    if (!ready) return this.#wait(signal);
    this.#occupy(ready);
    return ready;
  }

  /** Workers are for one run: the supervisor is not handed out again before it has parked another one. */
  giveBack(supervisor: Supervisor): void {
    if (!this.#busy.has(supervisor)) return; // it was lost
    this.#vacate(supervisor);
    this.#lastEnd = performance.now();
    if (supervisor.isKept) {
      dismiss(supervisor); // the worker of a session is for nobody else
      this.#order();
    } else if (supervisor.isParked) this.#offer(supervisor);
    else this.#preparing.add(supervisor);
    this.#watchIdleness();
  }

  /** Ends the parked workers; new ones start when somebody waits. */
  async rest(): Promise<void> {
    if (this.isIdle) await this.#retire();
  }

  /** Accepts no more runs, and closes when active ones have ended. */
  async drain(): Promise<void> {
    clearTimeout(this.#idle);
    for (const supervisor of this.#parked.splice(0)) dismiss(supervisor);
    this.#isDraining = true;
    if (!this.isIdle) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.close();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onIdle();
    clearTimeout(this.#backoff);
    clearTimeout(this.#idle);
    clearTimeout(this.#quiet);
    clearTimeout(this.#trimming);
    for (const { fail } of this.#waiting.splice(0))
      fail(new PungiError('CANCELLED', 'Pungi is shutting down.'));
    await this.#retire();
    await this.#options.supply?.giveBack();
  }

  #wait(signal?: AbortSignal): Promise<Supervisor> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal?.reason);
      };
      const settled = () => signal?.removeEventListener('abort', abort);
      const waiting: Waiting = {
        give: (supervisor) => {
          settled();
          resolve(supervisor);
        },
        fail: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
      this.#order();
    });
  }

  async #retire(): Promise<void> {
    const retired = this.#forkServer;
    this.#forkServer = undefined;
    for (const supervisor of this.#parked.splice(0)) dismiss(supervisor);
    await retired?.end();
  }

  #order(): void {
    if (this.#isClosed || this.#backoff || !this.#isSupplied) return;
    if (!this.#forkServer?.isAlive) this.#adopt(this.#options.start());
    const forkServer = this.#forkServer!;
    for (let missing = this.#missing(); missing > 0; missing -= 1) {
      this.#ordered += 1;
      forkServer.start().then(
        (supervisor) => {
          this.#ordered -= 1;
          this.#failures = 0;
          this.#welcome(supervisor);
        },
        (error: Error) => {
          this.#ordered -= 1;
          this.#recover(error);
        },
      );
    }
  }

  #missing(): number {
    const spare = this.#isDraining ? 0 : this.size;
    return this.#waiting.length + spare - this.#parked.length - this.parking;
  }

  #adopt(forkServer: ForkServer): void {
    this.#forkServer = forkServer;
    forkServer.exited.then((reason) => {
      if (this.#forkServer !== forkServer || this.#isClosed) return;
      this.#forkServer = undefined;
      for (const supervisor of this.#parked.splice(0)) dismiss(supervisor);
      this.restarts += 1;
      this.#recover(reason);
    });
  }

  /** Registers a supervisor with its first parked worker; it reports again after every run, until it is lost. */
  #welcome(supervisor: Supervisor): void {
    this.about = supervisor.about;
    supervisor.onParked = () => {
      if (!this.#busy.has(supervisor)) this.#offer(supervisor);
    };
    supervisor.onLost = () => this.#lose(supervisor);
    this.#offer(supervisor);
  }

  #occupy(supervisor: Supervisor): void {
    this.#busy.add(supervisor);
    if (this.#busy.size === 1) this.#forkServer?.markRuns(true);
  }

  #vacate(supervisor: Supervisor): void {
    if (this.#busy.delete(supervisor) && this.#busy.size === 0) this.#forkServer?.markRuns(false);
  }

  #offer(supervisor: Supervisor): void {
    this.#preparing.delete(supervisor);
    const waiting = this.#waiting.shift();
    if (waiting) {
      this.#occupy(supervisor);
      waiting.give(supervisor);
    } else if (this.#isClosed || this.#isDraining) dismiss(supervisor);
    else this.#park(supervisor);
  }

  #park(supervisor: Supervisor): void {
    this.#parked.push(supervisor);
    if (this.#parked.length > this.size) this.#trimLater();
    clearTimeout(this.#quiet);
    if (!this.#parked.some(({ isCold }) => isCold)) return;
    const rest = this.#lastEnd + QUIET_MS - performance.now();
    this.#quiet = setTimeout(() => this.#warmUp(), Math.max(0, rest));
    this.#quiet.unref();
  }

  #trimLater(): void {
    if (this.#trimming) return;
    this.#leastParked = this.#parked.length;
    this.#trimming = setTimeout(() => this.#trim(), LINGER_MS).unref();
  }

  /** Dismisses those of the surplus that were not needed, the longest parked first. */
  #trim(): void {
    this.#trimming = undefined;
    const surplus = Math.min(this.#leastParked, this.#parked.length) - this.size;
    for (const supervisor of this.#parked.splice(0, Math.max(0, surplus))) dismiss(supervisor);
    if (this.#parked.length > this.size) this.#trimLater();
  }

  /** Warms up workers one by one while the pool is quiet: a run that arrives meanwhile takes another worker. */
  #warmUp(): void {
    const index = this.#parked.findIndex(({ isCold }) => isCold);
    if (index < 0 || !this.isIdle) return;
    const [supervisor] = this.#parked.splice(index, 1);
    this.#preparing.add(supervisor!);
    supervisor!.warmUp();
  }

  #lose(supervisor: Supervisor): void {
    const index = this.#parked.indexOf(supervisor);
    if (index >= 0) this.#parked.splice(index, 1);
    this.#vacate(supervisor);
    this.#preparing.delete(supervisor);
    this.#watchIdleness();
    // Not if the fork server was retired meanwhile: it restarts when somebody waits.
    if (this.#forkServer || this.#waiting.length > 0) this.#order();
  }

  /**
   * After a failure the next order waits, twice as long each time; waiting callers fail after several failures. If
   * packages cannot be loaded, they fail at once, and the next attempt happens when somebody waits again.
   */
  #recover(error: Error): void {
    if (this.#isClosed || this.#backoff) return;
    if (error instanceof PungiError) {
      if (!(error instanceof GenerationGone))
        this.#options.logger.error('The packages of an environment cannot be loaded', {
          reason: error.message,
        });
      this.#fail(error);
      return;
    }
    this.#failures += 1;
    this.#options.logger.error('A worker could not be parked', {
      reason: error.message,
      failures: this.#failures,
    });
    if (this.#failures >= FAILURES_UNTIL_REPORTED) this.#fail(error);
    const delay = Math.min(FIRST_BACKOFF_MS * 2 ** (this.#failures - 1), LONGEST_BACKOFF_MS);
    this.#backoff = setTimeout(() => {
      this.#backoff = undefined;
      this.#order();
    }, delay);
  }

  #fail(error: Error): void {
    for (const { fail } of this.#waiting.splice(0)) fail(noWorker(error));
  }

  /** Begins the time without runs anew. */
  #watchIdleness(): void {
    if (this.isIdle) this.#onIdle();
    this.#idle.refresh();
  }
}

const noWorker = (error: Error): PungiError =>
  error instanceof PungiError
    ? error
    : new PungiError('INTERNAL_ERROR', `No worker could be started: ${error.message}`);

/** Ends a supervisor; its loss is expected. */
function dismiss(supervisor: Supervisor): void {
  supervisor.onLost = () => {};
  supervisor.discard();
}
