import type { ClusterHealth } from '../contract/health.js';
import type { Limits } from '../contract/limits.js';
import type { Tier } from '../contract/outcome.js';
import type { Preload } from '../runtime/fork-server.js';
import type { AboutCgroup, Job, OutputSink, RunEnd, WorkerAbout } from '../runtime/job.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import type { EnvironmentRef, PoolSpec } from './environment-ref.js';

/** The source of workers: local processes, or other machines. */
export interface Backend {
  /** Resolves when workers are available; rejects with what is missing. */
  start(signal: AbortSignal): Promise<BackendState>;
  /** Resolves to a worker, which its owner releases. Rejects with ENVIRONMENT_DAMAGED, DENIED, SERVER_BUSY or another reason. */
  acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker>;
  /** Prepares workers before the first run needs them. */
  warm(spec: WorkerSpec): void;
  /** What a worker of the environment reported about its interpreter, once there was one. */
  about(spec: WorkerSpec): WorkerAbout | undefined;
  /** The environments that have workers, parked or busy. */
  readonly environments: string[];
  /** Figures of the workers of an environment; undefined if it has none. */
  figures(environment: string): WorkerFigures | undefined;
  /**
   * Called after an environment was changed or deleted: parked workers of all generations except the current one end
   * at once, others after their run. Resolves when all have ended.
   */
  retire(environment: string, inForce: string | null): Promise<void>;
  /** Whether its workers can be kept for sessions. */
  readonly keepsWorkers: boolean;
  /** Lets a backend report the queue in front of it to other machines. */
  observe?(queue: QueueFigures): void;
  /** The other machines, if there are some. */
  cluster?(): ClusterHealth;
  /** Ends every worker. */
  close(): Promise<void>;
}

/** Runs that have their turn, and that wait for one. */
export interface QueueFigures {
  readonly active: number;
  readonly waiting: number;
  readonly capacity: number;
}

/** How many workers are ready, starting and busy. */
export interface WorkerFigures {
  /** How many are kept ready. */
  size: number;
  parked: number;
  parking: number;
  busy: number;
  forkServers: number;
  restarts: number;
  /** The result of preloading. */
  preloads: readonly Preload[];
}

export interface WorkerSpec {
  /** Undefined for the plain interpreter. */
  ref: EnvironmentRef | undefined;
  /** Undefined if any worker of the environment will do. */
  poolSpec?: PoolSpec | undefined;
  /** How long to wait for a free worker of another machine; for ever if not given. */
  waitMs?: number;
  /** Whether a session keeps it: machines bound how many of these they hold. */
  isForSession?: boolean | undefined;
  /** What its machine must have, such as gpu: "true". */
  labels?: Readonly<Record<string, string>> | undefined;
}

/**
 * The caller that acquires a worker owns it until it is released. What then happens to it is the backend's policy.
 */
export interface Worker {
  readonly about: WorkerAbout;
  /** Its tier, if the workers of its backend may differ. */
  readonly tier?: Tier;
  /**
   * Runs one job at a time. Resolves when all processes of the run have ended, or the worker is lost. `onConfirmed`: another
   * machine has said that the code runs.
   */
  run(
    job: Job,
    runId: string,
    sink: OutputSink,
    signal: AbortSignal,
    onConfirmed?: () => void,
  ): Promise<RunEnd>;
  /** Whether it waits for the next job of its session, with what the last one left. */
  readonly isKept: boolean;
  /** Why it is not kept any more, if its backend knows. */
  readonly goneBecause?: string | undefined;
  /** Of a session's worker, if the backend can copy it. */
  readonly copies?: WorkerCopies;
  release(): void;
}

/** Copies of a session's worker, with its variables and files. What is in the way is reported before anything happens. */
export interface WorkerCopies {
  /** The names of its checkpoints. It can go on from each, even when it has ended itself. */
  readonly checkpoints: readonly string[];
  /** Makes a checkpoint. */
  save(limits: Limits, signal: AbortSignal): Promise<Copied<string>>;
  /** Replaces the worker by a checkpoint, which stays. */
  load(checkpoint: string, limits: Limits, signal: AbortSignal): Promise<Copied<string>>;
  /** Makes another worker. Both share their limits and take turns. */
  fork(limits: Limits, signal: AbortSignal): Promise<Copied<Worker>>;
  drop(checkpoint: string): void;
}

export type Copied<T> = { copy: T } | { obstacles: string[] };

/** Holds the worker of a session from one run to the next. */
export interface WorkerSlot {
  worker: Worker | null;
  /** Why there is none any more, if its backend knows. */
  gone?: string | undefined;
}

/** The result of the start: the interpreter, the tier in use, and why no stronger one is available. */
export interface BackendState {
  interpreter: Interpreter;
  tier: Tier;
  features: string[];
  /** Identifies the interpreter's bytecode. */
  bytecodeTag: string;
  refused: { tier: Tier; reason: string }[];
  cgroup: AboutCgroup;
}

/** Identifies the bytecode of an interpreter. */
export const bytecodeTagOf = ({ python, magic }: WorkerAbout) => `${python}-${magic}`;
