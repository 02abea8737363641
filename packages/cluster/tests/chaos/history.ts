import type { Verdict } from '../../../core/src/contract/outcome.js';
import type { TrailEntry } from '../../src/worker/trail.js';

/** What was requested. No two requests have the same code, so that every start can be attributed. */
export interface Requested {
  id: string;
  /** The hash of its code, as trails have it. */
  code: string;
  retry: boolean;
  /** The caller cancels it, or may have. */
  isCancelled: boolean;
  inSession: boolean;
  /** The hash of what it prints if it ends well. */
  stdout: string | undefined;
}

export interface Answered {
  id: string;
  run: string;
  verdict: Pick<Verdict, 'kind'> & { started?: boolean | null; message?: string };
  stdout: string | undefined;
  /** A fault was under way between request and answer. */
  wasDisturbed: boolean;
}

export interface WorkerTrail {
  worker: string;
  entries: readonly (TrailEntry & { incarnation: string })[];
}

/** What happened, as the caller and the workers have recorded it. */
export interface History {
  requested: readonly Requested[];
  answered: readonly Answered[];
  /** Requests whose front end ended before it had answered. */
  orphans: readonly string[];
  trails: readonly WorkerTrail[];
  /** Processes of workers that were alive after all workers had ended. */
  left: readonly string[];
}
