import type { Tier } from '../contract/outcome.js';
import type { AboutCgroup, Job, OutputSink, RunEnd, WorkerAbout } from '../runtime/supervisor.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import type { EnvironmentRef, PoolSpec } from './environment-ref.js';

/** Where workers come from: local processes, or other machines. */
export interface Backend {
  /** Resolves when a worker could be had; rejects with what is missing. */
  start(signal: AbortSignal): Promise<BackendState>;
  /** Resolves to a worker for one run. Rejects with ENVIRONMENT_DAMAGED, DENIED or the reason why none can be had. */
  acquire(spec: WorkerSpec, signal: AbortSignal): Promise<Worker>;
  /** Prepares workers before the first run asks for them. */
  warm(spec: WorkerSpec): void;
  /** What a worker of the environment said of its interpreter, once one was there. */
  about(spec: WorkerSpec): WorkerAbout | undefined;
  /** Ends every worker. */
  close(): Promise<void>;
}

export interface WorkerSpec {
  /** Undefined: the interpreter itself. */
  ref: EnvironmentRef | undefined;
  /** Undefined: any worker of the environment will do. */
  poolSpec?: PoolSpec | undefined;
}

export interface Worker {
  readonly about: WorkerAbout;
  /** Resolves when all processes of the run have ended, or the worker is lost. */
  run(job: Job, runId: string, sink: OutputSink, signal: AbortSignal): Promise<RunEnd>;
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
