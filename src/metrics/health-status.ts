import type { Alert, Health } from '../contract/health.js';

export interface Condition {
  /** Why nothing can be run. */
  problem: string | null;
  /** Whether the first worker is parked. */
  isReady: boolean;
  alerts: readonly Alert[];
  /** Why nothing can be recorded, and so nothing be run. */
  auditProblem: string | null;
  /** Why the default environment is not what the settings ask for. */
  environmentProblem: string | null;
}

/** unhealthy: nothing can be run, or not where the settings say; degraded: runs work, not as they should. */
export function statusOf(condition: Condition): Health['status'] {
  const { problem, isReady, alerts, auditProblem, environmentProblem } = condition;
  if ([problem, auditProblem, environmentProblem].some((reason) => reason !== null)) return 'unhealthy';
  if (!isReady) return 'starting';
  return alerts.length > 0 ? 'degraded' : 'healthy';
}
