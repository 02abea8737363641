import type { Tier } from '../contract/outcome.js';
import type { Preload } from '../runtime/fork-server.js';
import type { AboutCgroup, Job, OutputSink, RunEnd, WorkerAbout } from '../runtime/supervisor.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import type { EnvironmentRef, PoolSpec } from './environment-ref.js';

/** Where workers come from: local processes, or other machines. */
export interface Backend {
  /** Resolves when a worker could be had; rejects with what is missing. */
  start(signal: AbortSignal): Promise<BackendState>;
  /** Resolves to a worker, which its owner releases. Rejects with ENVIRONMENT_DAMAGED, DENIED or the reason why there is none. */
  acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker>;
  /** Prepares workers before the first run asks for them. */
  warm(spec: WorkerSpec): void;
  /** What a worker of the environment said of its interpreter, once one was there. */
  about(spec: WorkerSpec): WorkerAbout | undefined;
  /** The environments that have workers, parked or at work. */
  readonly environments: string[];
  /** Figures of the workers of an environment; undefined where it has none. */
  figures(environment: string): WorkerFigures | undefined;
  /**
   * For an environment that was changed or deleted: parked workers of all generations but the one in force go at once, others with
   * the end of their run. Resolves when all have gone.
   */
  retire(environment: string, inForce: string | null): Promise<void>;
  /** Ends every worker. */
  close(): Promise<void>;
}

/** How many workers are ready, on their way and at work. */
export interface WorkerFigures {
  /** How many are kept ready. */
  size: number;
  parked: number;
  parking: number;
  busy: number;
  forkServers: number;
  restarts: number;
  /** What became of the preload list. */
  preloads: readonly Preload[];
}

export interface WorkerSpec {
  /** Undefined: the interpreter itself. */
  ref: EnvironmentRef | undefined;
  /** Undefined: any worker of the environment will do. */
  poolSpec?: PoolSpec | undefined;
}

/** Whoever acquires a worker owns it until it is released. What becomes of it then is the backend's policy, not its owner's. */
export interface Worker {
  readonly about: WorkerAbout;
  /** One run at a time, as often as the worker lives. Resolves when all processes of the run have ended, or the worker is lost. */
  run(job: Job, runId: string, sink: OutputSink, signal: AbortSignal): Promise<RunEnd>;
  release(): void;
}

/** What came up at start: the interpreter, the tier that was really entered, and why no stronger one was. */
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
