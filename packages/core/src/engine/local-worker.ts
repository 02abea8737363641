import type { Limits } from '../contract/limits.js';
import {
  type BranchPlace,
  type CopyOrder,
  type EndFacts,
  type Job,
  MAIN_BRANCH,
  type OutputSink,
  type RunEnd,
  type WorkerAbout,
} from '../runtime/job.js';
import type { Supervisor } from '../runtime/supervisor.js';
import type { Copied, Worker, WorkerCopies } from './backend.js';

/** What the workers of a session and of its branches share. */
export interface LocalPlace {
  readonly supervisor: Supervisor;
  readonly isPressed: () => boolean;
  /** Lets a run reach the network; returns the function that ends that. */
  readonly enterNetwork: (runId: string) => (() => void) | undefined;
  /** Called with how each job ended. */
  readonly onEnd: (job: Job, end: RunEnd) => void;
  readonly giveBack: () => void;
}

/** A fork and the files of a session take milliseconds; foreign code may make it longer. */
const COPY_TIMEOUT_MS = 10_000;
const GONE = ['its process was ended'];

/** The workers in one supervisor. */
class Family {
  readonly members = new Set<LocalWorker>();
  #serial = 0;

  nextName = (letter: string): string => `${letter}${++this.#serial}`;
}

/** A worker of this machine. Of a session, it is one of several branches in one supervisor, which take turns. */
export class LocalWorker implements Worker, WorkerCopies {
  readonly copies: WorkerCopies = this;
  readonly #place: LocalPlace;
  readonly #family: Family;
  readonly #branch: BranchPlace;
  /** Name to the jobs that the worker had had. */
  readonly #checkpoints = new Map<string, number>();
  #isKept = false;

  constructor(place: LocalPlace, family = new Family(), branch = { name: MAIN_BRANCH, jobs: 0 }) {
    this.#place = place;
    this.#family = family;
    family.members.add(this);
    this.#branch = branch;
    this.#isKept = branch.name !== MAIN_BRANCH;
  }

  get about(): WorkerAbout {
    return this.#place.supervisor.about!;
  }

  get isKept(): boolean {
    return this.#isKept && !this.#place.supervisor.isLost;
  }

  get checkpoints(): readonly string[] {
    return this.#place.supervisor.isLost ? [] : [...this.#checkpoints.keys()];
  }

  async run(job: Job, runId: string, sink: OutputSink, signal: AbortSignal): Promise<RunEnd> {
    const { supervisor, isPressed, enterNetwork, onEnd } = this.#place;
    const leaveNetwork = enterNetwork(runId);
    try {
      const end = await supervisor.run(job, sink, signal, isPressed(), this.#branch);
      if (job.task === undefined) this.#branch.jobs += 1;
      this.#learn(end.facts);
      onEnd(job, end);
      return end;
    } finally {
      leaveNetwork?.();
    }
  }

  async save(limits: Limits, signal: AbortSignal): Promise<Copied<string>> {
    const copy = this.#family.nextName('c');
    const obstacles = await this.#order({ action: 'save', copy }, limits, signal);
    if (obstacles.length > 0) return { obstacles };
    this.#checkpoints.set(copy, this.#branch.jobs);
    return { copy };
  }

  async load(copy: string, limits: Limits, signal: AbortSignal): Promise<Copied<string>> {
    const jobs = this.#checkpoints.get(copy)!;
    const obstacles = await this.#order({ action: 'load', copy }, limits, signal);
    if (obstacles.length > 0) return { obstacles };
    this.#branch.jobs = jobs;
    return { copy };
  }

  async fork(limits: Limits, signal: AbortSignal): Promise<Copied<Worker>> {
    const name = this.#family.nextName('b');
    const obstacles = await this.#order({ action: 'save', copy: name }, limits, signal);
    if (obstacles.length > 0) return { obstacles };
    return { copy: new LocalWorker(this.#place, this.#family, { name, jobs: this.#branch.jobs }) };
  }

  drop(checkpoint: string): void {
    if (this.#checkpoints.delete(checkpoint)) this.#place.supervisor.dropCopies([checkpoint]);
  }

  release(): void {
    if (!this.#family.members.delete(this)) return;
    this.#isKept = false;
    if (this.#family.members.size === 0) this.#place.giveBack();
    else this.#place.supervisor.dropCopies([this.#branch.name, ...this.#checkpoints.keys()]);
  }

  /** Returns what was in the way. */
  async #order(order: CopyOrder, limits: Limits, signal: AbortSignal): Promise<string[]> {
    const timed = { ...limits, timeoutMs: COPY_TIMEOUT_MS, cpuMs: COPY_TIMEOUT_MS };
    const { facts } = await this.#place.supervisor.copy(order, this.#branch, orderOf(timed), signal);
    this.#learn(facts);
    if (facts === null) return GONE;
    if (facts.killedFor !== null) return [`copying it passed a limit: ${facts.killedFor}`];
    return facts.obstacles ?? GONE;
  }

  #learn(facts: EndFacts | null): void {
    this.#isKept = facts?.isKept === true;
    const left = new Set(facts?.copies ?? []);
    for (const name of this.#checkpoints.keys()) if (!left.has(name)) this.#checkpoints.delete(name);
  }
}

/** An order is no script, but has the limits of one. */
const orderOf = (limits: Limits): Job => ({
  code: '',
  filename: '',
  argv: [],
  stdin: '',
  files: [],
  env: {},
  limits,
  variables: {},
});
