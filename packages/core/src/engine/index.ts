export { GenerationGone } from '../runtime/fork-server.js';
export type { AboutCgroup, EndFacts, Job, LostRun, OutputSink, RunEnd, WorkerAbout } from '../runtime/job.js';
export type {
  Backend,
  BackendState,
  Copied,
  QueueFigures,
  Worker,
  WorkerCopies,
  WorkerFigures,
  WorkerSpec,
} from './backend.js';
export { bytecodeTagOf } from './backend.js';
export type { EnvironmentRef, PoolSpec } from './environment-ref.js';
export { isPlain, PLAIN } from './environment-ref.js';
export { FairQueue } from './fair-queue.js';
