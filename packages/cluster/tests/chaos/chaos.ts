import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { lastingFolder } from '../../../../tests/support/places.js';
import { isAlive } from '../../../../tests/support/processes.js';
import { randomNumbers } from '../../../../tests/support/random-numbers.js';
import { PungiError } from '../../../core/src/base/errors.js';
import type { Outcome } from '../../../core/src/contract/outcome.js';
import type { RunRequest } from '../../../core/src/contract/run.js';
import { refusal } from '../../../core/src/pungi/refusal.js';
import type { Pungi } from '../../../core/src/pungi.js';
import { TestCluster } from '../cluster.js';
import { ChaosFront } from './chaos-front.js';
import { ChaosWorker, type Peculiarity } from './chaos-worker.js';
import { FRONT_FAULTS, NATS_FAULTS, WORKER_FAULTS } from './faults.js';
import type { Answered, History, Requested } from './history.js';
import { callOf, endlessPlanOf, hashOf, onePlanOf, type Plan, planOf } from './requests.js';
import { makeNextVersion, withWrongClock } from './unusual-programs.js';

export interface ChaosOptions {
  seed: number;
  runs: number;
}

export interface ChaosResult extends History {
  /** How often each verdict was given, and each fault made. */
  verdicts: Record<string, number>;
  faults: Record<string, number>;
}

/** Requests under way at the same time. */
const AT_ONCE = 16;
/** Of the front end that is killed: besides these, it always has a run that does not end by itself. */
const AT_ONCE_THERE = 3;
/** Its client, as front ends know it. */
const CALLER = { client: 'tests 1.0.0' };
/** A request without an answer after this has none. */
const ANSWER_MS = 90_000;
/** A whole test. */
const CHAOS_MS = 3_600_000;
/** A fault explains what happens until so long after its end. */
const AFTERMATH_MS = 3000;
const END_MS = 30_000;

/** The workers: an ordinary one, two whose clocks are wrong, and one of the next version. */
const peculiaritiesOf = (folder: string): Peculiarity[] => [
  {},
  { env: { NODE_OPTIONS: withWrongClock(26) } },
  { env: { NODE_OPTIONS: withWrongClock(-26) } },
  { main: makeNextVersion(join(folder, 'next')) },
];

/** Lets requests meet faults, both from the seed, and records what was requested, answered, started and left. */
export class Chaos {
  readonly #requested: Requested[] = [];
  readonly #answered: Answered[] = [];
  readonly #orphans: string[] = [];
  readonly #faults: Record<string, number> = {};
  #active = 0;
  #lastFault = Number.NEGATIVE_INFINITY;
  #isOver = false;

  private constructor(
    private readonly options: ChaosOptions,
    private readonly cluster: TestCluster,
    private readonly workers: readonly ChaosWorker[],
    private readonly pungi: Pungi,
    private readonly front: ChaosFront,
  ) {}

  static async run(options: ChaosOptions): Promise<ChaosResult> {
    const cluster = await TestCluster.start();
    const folder = lastingFolder();
    const workers: ChaosWorker[] = [];
    let front: ChaosFront | undefined;
    try {
      const opened = peculiaritiesOf(folder).map((one, n) =>
        ChaosWorker.open(`c${n + 1}`, cluster, folder, one),
      );
      workers.push(...(await Promise.all(opened)));
      const pungi = await cluster.front({
        maxConcurrentExecutions: AT_ONCE,
        maxSessions: 4 * AT_ONCE,
        maxBackgroundRuns: AT_ONCE,
        maxBackgroundPerCaller: AT_ONCE,
      });
      front = await ChaosFront.open(cluster);
      return await new Chaos(options, cluster, workers, pungi, front).#run();
    } finally {
      await front?.kill();
      await Promise.all(workers.map((worker) => worker.close()));
      await cluster.stop();
    }
  }

  async #run(): Promise<ChaosResult> {
    const random = randomNumbers(this.options.seed);
    const faults = [this.#befall(WORKER_FAULTS, random), this.#befall(WORKER_FAULTS, random, 2)];
    faults.push(this.#befall(NATS_FAULTS, random), this.#befallFront(random));
    const endless = this.#requestEndless();
    await Promise.all([
      ...Array.from({ length: AT_ONCE }, (_, lane) => this.#request(lane)),
      ...Array.from({ length: AT_ONCE_THERE }, (_, lane) => this.#requestThere(AT_ONCE + lane)),
    ]);
    this.#isOver = true;
    await Promise.all(faults);
    await this.front.kill();
    await endless;
    const left = await this.#end();
    const verdicts: Record<string, number> = {};
    for (const { verdict } of this.#answered) count(verdicts, nameOf(verdict));
    const trails = this.workers.map(({ trail }) => trail);
    const [requested, answered, orphans] = [this.#requested, this.#answered, this.#orphans];
    verdicts['no answer'] = orphans.length;
    return { requested, answered, orphans, trails, left, verdicts, faults: this.#faults };
  }

  /** Faults of a table, one after the other, each at a worker of its own half. */
  async #befall(table: typeof WORKER_FAULTS, random: () => number, from = 0): Promise<void> {
    const all = Object.entries(table);
    while (!this.#isOver) {
      await pause(100 + random() * (table === NATS_FAULTS ? 8000 : 1000));
      const [name, fault] = all[Math.floor(random() * all.length)]!;
      const worker = this.workers[from + Math.floor(random() * 2)]!;
      if (this.#isOver) return;
      await this.#disturb(name, () => fault(worker, this.cluster.nats, random));
    }
  }

  async #befallFront(random: () => number): Promise<void> {
    const all = Object.entries(FRONT_FAULTS);
    for (let n = 0; !this.#isOver; n++) {
      await pause(100 + random() * 4000);
      const [name, fault] = all[n % all.length]!;
      if (!this.#isOver) await this.#disturb(name, () => fault(this.front, random));
    }
  }

  async #disturb(name: string, fault: () => Promise<unknown>): Promise<void> {
    this.#active += 1;
    const wasMade = await fault();
    this.#active -= 1;
    this.#lastFault = performance.now();
    if (wasMade !== false) count(this.#faults, name);
  }

  /** Requests until there were enough. */
  async #request(lane: number): Promise<void> {
    const random = randomNumbers(this.options.seed * 1000 + lane);
    for (let n = 0; this.#requested.length < this.options.runs; n++) {
      const id = `s${this.options.seed}-${lane}-${n}`;
      const plan = planOf(id, random);
      const outcome = await this.#ask(id, plan);
      if (plan.calls !== undefined && outcome?.session?.alive)
        await this.#callIn(outcome.session.id, id, plan.calls);
    }
  }

  /** Requests of the front end that is killed. */
  async #requestThere(lane: number): Promise<void> {
    const random = randomNumbers(this.options.seed * 1000 + lane);
    for (let n = 0; this.#requested.length < this.options.runs; n++) {
      const id = `s${this.options.seed}-${lane}-${n}`;
      await this.#ask(id, onePlanOf(id, random), this.front);
    }
  }

  /** One after the other, each until its front end or its worker is lost. */
  async #requestEndless(): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const id = `s${this.options.seed}-endless-${n}`;
      await this.#ask(id, endlessPlanOf(id), this.front, CHAOS_MS);
    }
  }

  /** Goes on in a session once after it has ended: nothing must run there any more. */
  async #callIn(session: string, id: string, calls: number): Promise<void> {
    let isOver = false;
    for (let count = 1; count <= calls; count++) {
      const call = callOf(`${id}-${count}`, session, count);
      const outcome = await this.#ask(`${id}-${count}`, isOver ? { ...call, prints: 'nothing' } : call);
      if (isOver) return;
      isOver = outcome?.verdict.kind !== 'ok';
    }
    if (!isOver) this.#endSession(session);
  }

  /** It may have ended with its worker, after its last answer. */
  #endSession(session: string): void {
    try {
      this.pungi.endSession(session);
    } catch (error) {
      if (PungiError.from(error).code !== 'SESSION_ENDED') throw error;
    }
  }

  async #ask(
    id: string,
    { request, prints, cancelAfterMs, inBackground }: Plan,
    front?: ChaosFront,
    answerMs = ANSWER_MS,
  ): Promise<Outcome | undefined> {
    const { code, retry = false, session } = request;
    this.#requested.push({
      id,
      code: hashOf(code!)!,
      retry,
      isCancelled: cancelAfterMs !== undefined,
      inSession: session !== undefined,
      stdout: hashOf(prints),
    });
    const stop = new AbortController();
    const timer = cancelAfterMs === undefined ? undefined : setTimeout(() => stop.abort(), cancelAfterMs);
    const asked = performance.now();
    const { signal } = stop;
    const run = inBackground
      ? this.#inBackground(request, signal, front)
      : (front?.run(request) ?? this.pungi.run(request, { signal }));
    const answer = run.then(
      (outcome) => {
        if (outcome === undefined) {
          this.#orphans.push(id);
          return undefined;
        }
        const { runId: run, verdict, stdout } = outcome;
        const wasDisturbed = this.#active > 0 || this.#lastFault + AFTERMATH_MS > asked;
        this.#answered.push({ id, run, verdict, stdout: hashOf(stdout.text), wasDisturbed });
        return outcome;
      },
      (error: Error) => {
        console.error(`${id} was rejected: ${error.message}`);
        return undefined;
      },
    );
    const late = new AbortController();
    const outcome = await Promise.race([
      answer,
      pause(answerMs, undefined, { signal: late.signal }).catch(() => undefined),
    ]);
    late.abort();
    clearTimeout(timer);
    return outcome;
  }

  /**
   * What was acknowledged has an outcome, which every front end knows; what was not acknowledged is busy, and never starts. Returns
   * undefined if the front end ended before it had acknowledged it.
   */
  async #inBackground(
    request: RunRequest,
    signal: AbortSignal,
    front?: ChaosFront,
  ): Promise<Outcome | undefined> {
    const caller = front && CALLER;
    const accepting = front?.accept(request) ?? this.pungi.runInBackground(request).then(({ run }) => run);
    const run = await accepting.catch((error: unknown) => {
      if (error instanceof PungiError) return error;
      throw error;
    });
    if (run === undefined) return undefined;
    if (run instanceof PungiError) return refusal(run, request.code);
    signal.addEventListener('abort', () => void this.pungi.cancelRun(run).catch(() => {}));
    if (signal.aborted) void this.pungi.cancelRun(run).catch(() => {});
    for (;;) {
      // NATS may be away for longer than one call waits.
      const { outcome } = await this.pungi
        .getRun(run, { waitMs: 5000, ...(caller && { caller }) })
        .catch(() => ({ outcome: undefined }));
      if (outcome) return outcome;
    }
  }

  /** Drains all workers; returns the processes that are left. */
  async #end(): Promise<string[]> {
    await this.pungi.close();
    for (const worker of this.workers) worker.signal('SIGTERM');
    const until = performance.now() + END_MS;
    const left = () => {
      const below = this.workers.flatMap(({ seen }) => [...seen.values()].filter(isAlive));
      const themselves = this.workers.filter(({ isRunning }) => isRunning);
      return [...themselves.map(({ name }) => name), ...below.map(({ pid, command }) => `${pid} ${command}`)];
    };
    while (left().length > 0 && performance.now() < until) await pause(50);
    return left();
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

const nameOf = ({ kind, started }: Answered['verdict']) =>
  kind === 'lost' ? `lost, started ${started}` : kind;
