import type { BackgroundRuns, SharedBackground } from '../background.js';
import type { Backend } from '../engine/backend.js';
import type { Environments, EnvironmentsOptions } from '../environments/environments.js';
import type { Chain } from '../gate/profiles/inherit.js';

/** The profiles that the front ends of a cluster share. */
export interface SharedProfiles {
  /** A whole set; another one takes its place. */
  readonly chains: ReadonlyMap<string, Chain>;
  /** Calls whenever the set has changed. */
  onChange(call: () => void): void;
}

/** Other machines, which run the code and have the environments. */
export interface RemoteBackend extends Backend {
  /** Called once, before any run. */
  environmentsWith(options: EnvironmentsOptions): Environments;
  readonly profiles: SharedProfiles;
  /** Called once by a server. `folder`: of its audit trail, if it has one. `closed`: nothing is recorded any more. */
  auditIn(folder: string | null, closed: Promise<void>): void;
  /** Called at most once: a command has no background runs. */
  backgroundWith(parts: SharedBackground): BackgroundRuns;
}
