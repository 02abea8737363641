import type { Alert, Health } from '../contract/health.js';

export interface Condition {
  /** Why nothing can be run. */
  problem: string | null;
  /** Whether the first worker is parked. */
  isReady: boolean;
  alerts: readonly Alert[];
  /** Why nothing can be recorded, and so nothing be run. */
  auditProblem: string | null;
}

/** unhealthy: nothing can be run; degraded: runs work, not as they should. */
export function statusOf({ problem, isReady, alerts, auditProblem }: Condition): Health['status'] {
  if (problem !== null || auditProblem !== null) return 'unhealthy';
  if (!isReady) return 'starting';
  return alerts.length > 0 ? 'degraded' : 'healthy';
}
