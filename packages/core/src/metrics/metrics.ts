import type { Alert, Health, Metrics as MetricsShape } from '../contract/health.js';
import type { Outcome } from '../contract/outcome.js';

const KEPT = 1000;

/** Aggregates figures of finished runs. */
export class Metrics {
  #total = 0;
  #ok = 0;
  #wallMs = 0;
  #memoryMb = 0;
  #peakMb = 0;
  #latest: { wallMs: number; latencyMs: number }[] = [];
  #verdicts = new Map<string, number>();
  #started = performance.now();

  record({ verdict, usage, isolation, cached }: Outcome): void {
    this.#verdicts.set(verdict.kind, (this.#verdicts.get(verdict.kind) ?? 0) + 1);
    // A refused or cached run counts only by its verdict.
    if (isolation.tier === null || cached !== null) return;
    this.#total += 1;
    if (verdict.kind === 'ok') this.#ok += 1;
    this.#wallMs += usage.wallMs;
    this.#memoryMb += usage.peakMemoryMb;
    this.#peakMb = Math.max(this.#peakMb, usage.peakMemoryMb);
    const { wallMs, waitMs } = usage;
    this.#latest[(this.#total - 1) % KEPT] = { wallMs, latencyMs: waitMs + wallMs };
  }

  snapshot(active: number, queued: number): MetricsShape {
    return {
      totalExecutions: this.#total,
      totalErrors: this.#total - this.#ok,
      successRate: this.#total === 0 ? 100 : round((this.#ok / this.#total) * 100),
      averageExecutionTimeMs: this.#total === 0 ? 0 : round(this.#wallMs / this.#total),
      averageMemoryUsageMb: this.#total === 0 ? 0 : round(this.#memoryMb / this.#total),
      executionTimeMs: quantiles(this.#latest.map(({ wallMs }) => wallMs)),
      latencyMs: quantiles(this.#latest.map(({ latencyMs }) => latencyMs)),
      peakMemoryUsageMb: round(this.#peakMb),
      verdicts: Object.fromEntries(this.#verdicts),
      activeExecutions: active,
      queuedExecutions: queued,
      uptimeSeconds: round((performance.now() - this.#started) / 1000),
      serverMemoryMb: round(process.memoryUsage.rss() / 1024 / 1024),
    };
  }
}

function quantiles(values: number[]): MetricsShape['latencyMs'] {
  const sorted = values.sort((a, b) => a - b);
  const at = (quantile: number) => round(sorted[Math.floor((sorted.length - 1) * quantile)] ?? 0);
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

const round = (value: number) => Math.round(value * 100) / 100;

interface Condition {
  /** Why runs are impossible. */
  problem: string | null;
  /** Whether the first worker is ready. */
  isReady: boolean;
  alerts: readonly Alert[];
  /** Why nothing can be recorded, so that runs are refused. */
  auditProblem: string | null;
  /** Why the default environment does not match the settings. */
  environmentProblem: string | null;
  /** Why runs wait: no machine of the cluster takes them. */
  workerProblem?: string | null;
}

/**
 * unhealthy: runs are impossible or would not follow the settings; degraded: runs work or wait, but a threshold is exceeded, or
 * no worker is there.
 */
export function statusOf(condition: Condition): Health['status'] {
  const { problem, isReady, alerts, auditProblem, environmentProblem, workerProblem = null } = condition;
  if ([problem, auditProblem, environmentProblem].some((reason) => reason !== null)) return 'unhealthy';
  if (!isReady) return 'starting';
  return alerts.length > 0 || workerProblem !== null ? 'degraded' : 'healthy';
}
