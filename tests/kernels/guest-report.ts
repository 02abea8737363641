import type { AttackTier } from '../../packages/core/tests/security/attack.js';
import type { Row, RowResult } from '../../packages/core/tests/security/table-run.js';

/** What the image tells the program inside it to do. */
export interface GuestOrder {
  python: string;
  /** The bundled command line. */
  commandLine: string;
  canary: string;
  rows: Row[];
}

/** One line of the program inside. */
export type GuestReport =
  | { tier: AttackTier; refused: string }
  | { tier: AttackTier; result: RowResult }
  | { tier: AttackTier; left: string[] }
  | { doctor: string }
  | { isDone: true };
