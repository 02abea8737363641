import type { Logger } from '../base/logger.js';
import type { Config } from '../config/schema.js';
import type { Alert } from '../contract/health.js';
import type { Outcome } from '../contract/outcome.js';
import { type Figure, RecentRuns } from './recent-runs.js';
import { type Post, Webhook } from './webhook.js';

/** The part of the configuration that alerts are about; 0 switches a threshold off. */
export type Thresholds = Pick<
  Config,
  'alertLatencyMs' | 'alertFailureRate' | 'alertMemoryMb' | 'alertQueue' | 'alertWindowMs' | 'alertWebhook'
>;

/** What only the server can say, at this moment. */
interface Readings {
  /** Runs that wait for their turn. */
  queued: number;
  /** Resident memory of the server's own process. */
  serverMemoryMb: number;
}

interface AlertRule {
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

function rulesFor(thresholds: Thresholds): AlertRule[] {
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

/** Below this part of the threshold, for this long without a break, an alert is over: it does not flap. */
const CALM_SHARE = 0.8;
const CALM_MS = 30_000;
const LOOK_EVERY_MS = 5000;
/** A look goes through all that is remembered: not after every run, each of which waits for it. */
const LOOK_AFTER_MS = 100;

interface AlertOptions {
  logger: Logger;
  /** Asked at every look; without it, what look() was told last holds. */
  read?: () => Readings;
  /** Milliseconds since 1970 that never go back. */
  now?: () => number;
  post?: Post;
}

interface Raised {
  since: string;
  figure: Figure;
  calmSince: number | null;
}

/** Watches what ran, raises an alert once when a threshold is passed, and clears it once when that is over. */
export class Alerts {
  readonly #rules: AlertRule[];
  readonly #raised = new Map<AlertRule, Raised>();
  readonly #recent = new RecentRuns();
  readonly #windowMs: number;
  readonly #calmMs: number;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #webhook: Webhook | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #read: () => Readings;
  #soon: NodeJS.Timeout | undefined;

  constructor(thresholds: Thresholds, { logger, read, now, post }: AlertOptions) {
    this.#rules = rulesFor(thresholds);
    this.#windowMs = thresholds.alertWindowMs;
    this.#calmMs = Math.min(CALM_MS, this.#windowMs);
    this.#logger = logger;
    this.#read = read ?? (() => ({ queued: 0, serverMemoryMb: 0 }));
    this.#now = now ?? (() => performance.timeOrigin + performance.now());
    if (this.#rules.length === 0) return;
    const address = thresholds.alertWebhook;
    this.#webhook =
      address === undefined ? undefined : new Webhook(address, { logger, ...(post && { post }) });
    this.#timer = setInterval(() => this.look(), Math.min(LOOK_EVERY_MS, this.#windowMs)).unref();
  }

  /** The thresholds that are passed now. One that was passed a moment ago is not among them, though its end is not told yet. */
  get current(): Alert[] {
    if (this.#rules.length > 0) this.look();
    return [...this.#raised]
      .filter(([rule, { figure }]) => figure.value > rule.threshold)
      .map(([rule, { since, figure }]) => alertOf(rule, figure, since));
  }

  record(outcome: Outcome): void {
    if (this.#rules.length === 0) return;
    this.#recent.add(outcome, this.#now());
    this.#soon ??= setTimeout(() => this.look(), LOOK_AFTER_MS).unref();
  }

  look(told?: Readings): void {
    if (told !== undefined) this.#read = () => told;
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const at = this.#now();
    const readings = this.#read();
    this.#recent.forgetBefore(at - this.#windowMs);
    for (const rule of this.#rules) this.#judge(rule, rule.measure(this.#recent, readings), at);
  }

  /** Waits shortly for what the webhook has not been told yet. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#soon);
    await this.#webhook?.close();
  }

  #judge(rule: AlertRule, figure: Figure, at: number): void {
    const raised = this.#raised.get(rule);
    if (raised === undefined) {
      if (figure.value > rule.threshold && figure.samples >= rule.minimum) this.#raise(rule, figure, at);
      return;
    }
    raised.figure = figure;
    const isCalm = figure.value <= rule.threshold * CALM_SHARE;
    raised.calmSince = isCalm ? (raised.calmSince ?? at) : null;
    if (raised.calmSince !== null && at - raised.calmSince >= this.#calmMs) this.#clear(rule, raised, at);
  }

  #raise(rule: AlertRule, figure: Figure, at: number): void {
    const since = new Date(at).toISOString();
    this.#raised.set(rule, { since, figure, calmSince: null });
    const alert = alertOf(rule, figure, since);
    this.#logger.error('Alert raised', { ...alert });
    this.#webhook?.send({ event: 'raised', alert, at: since });
  }

  #clear(rule: AlertRule, { figure, since }: Raised, at: number): void {
    this.#raised.delete(rule);
    const alert = alertOf(rule, figure, since);
    this.#logger.info('Alert cleared', { ...alert });
    this.#webhook?.send({ event: 'cleared', alert, at: new Date(at).toISOString() });
  }
}

const alertOf = ({ name, threshold, word }: AlertRule, figure: Figure, since: string): Alert => ({
  name,
  value: Math.round(figure.value * 100) / 100,
  threshold,
  since,
  message: word(figure, threshold),
});
