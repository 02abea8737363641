import type { Config } from '../config/schema.js';
import type { Alert } from '../contract/health.js';
import type { Figure, RecentRuns } from './recent-runs.js';

/** The part of the configuration that alerts are about; 0 switches a threshold off. */
export type Thresholds = Pick<
  Config,
  'alertLatencyMs' | 'alertFailureRate' | 'alertMemoryMb' | 'alertQueue' | 'alertWindowMs' | 'alertWebhook'
>;

/** What only the server can say, at this moment. */
export interface Readings {
  /** Runs that wait for their turn. */
  queued: number;
  /** Resident memory of the server's own process. */
  serverMemoryMb: number;
}

export interface AlertRule {
  name: Alert['name'];
  threshold: number;
  /** Fewer samples than these raise nothing. */
  minimum: number;
  measure: (recent: RecentRuns, readings: Readings) => Figure;
  word: (figure: Figure, threshold: number) => string;
}

const MINIMUM_RUNS = 5;
const now = (value: number): Figure => ({ value, samples: 1 });
const whole = (value: number) => String(Math.round(value));

export function rulesFor(thresholds: Thresholds): AlertRule[] {
  const rules: AlertRule[] = [
    {
      name: 'latency',
      threshold: thresholds.alertLatencyMs,
      minimum: MINIMUM_RUNS,
      measure: (recent) => recent.latencyMs(),
      word: ({ value, samples }, threshold) =>
        `95 % of the latest ${samples} runs took up to ${whole(value)} ms, waiting included; the threshold is ${threshold} ms.`,
    },
    {
      name: 'failure-rate',
      threshold: thresholds.alertFailureRate,
      minimum: MINIMUM_RUNS,
      measure: (recent) => recent.failurePercent(),
      word: ({ value, samples }, threshold) =>
        `The server itself failed ${whole(value)} % of the latest ${samples} runs; the threshold is ${threshold} %.`,
    },
    {
      name: 'memory',
      threshold: thresholds.alertMemoryMb,
      minimum: 1,
      measure: (recent, { serverMemoryMb }) => now(serverMemoryMb + recent.togetherMb()),
      word: ({ value }, threshold) =>
        `The server and the runs that were under way together used up to ${whole(value)} MB, each run at its peak; the threshold is ${threshold} MB.`,
    },
    {
      name: 'queue',
      threshold: thresholds.alertQueue,
      minimum: 1,
      measure: (_recent, { queued }) => now(queued),
      word: ({ value }, threshold) => `${value} runs are waiting; the threshold is ${threshold}.`,
    },
  ];
  return rules.filter(({ threshold }) => threshold > 0);
}
