import type { BackgroundRuns, SharedBackground } from '../background.js';
import type { Backend } from '../engine/backend.js';
import type { Environments, EnvironmentsOptions } from '../environments/environments.js';

/** Other machines, which run the code and have the environments. */
export interface RemoteBackend extends Backend {
  /** Called once, before any run. */
  environmentsWith(options: EnvironmentsOptions): Environments;
  /** Called once by a server. `folder`: of its audit trail, if it has one. `closed`: nothing is recorded any more. */
  auditIn(folder: string | null, closed: Promise<void>): void;
  /** Called at most once: a command has no background runs. */
  backgroundWith(parts: SharedBackground): BackgroundRuns;
}
