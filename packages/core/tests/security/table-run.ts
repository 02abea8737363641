import type { Outcome } from '../../src/contract/outcome.js';
import type { RunRequest } from '../../src/contract/run.js';
import type { AttackTier, SessionStep } from './attack.js';

/** What the test hands to a runner on its stdin. */
export interface TableRun {
  tier: AttackTier;
  python: string;
  /** Where the runner may write, and what its attackers must not reach. */
  folder: string;
  /** Host files and folders that must stay hidden, beside those of the runner itself. */
  secretFiles: string[];
  secretFolders: string[];
  canary: string;
  victimCode: string;
  rows: Row[];
}

export interface Row {
  name: string;
  request: RunRequest;
  victim: boolean;
  bystander: boolean;
  cancelAfterMs: number | null;
  calls?: readonly SessionStep[] | null;
}

/** One line of a runner's stdout. */
export interface RowResult {
  name: string;
  outcome: Outcome | null;
  tookMs: number;
  /** What was not as it must be after every row, whatever the row was. */
  problems: string[];
}
