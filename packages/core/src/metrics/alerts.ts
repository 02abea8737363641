import type { Logger } from '../base/logger.js';
import type { Config } from '../config/schema.js';
import type { Alert } from '../contract/health.js';
import type { Outcome } from '../contract/outcome.js';
import { faultOf } from '../contract/verdicts.js';
import { type Post, Webhook } from './webhook.js';

/** The settings of alerts; 0 switches a threshold off. */
export type Thresholds = Pick<
  Config,
  'alertLatencyMs' | 'alertFailureRate' | 'alertMemoryMb' | 'alertQueue' | 'alertWindowMs' | 'alertWebhook'
>;

/** Values that only the server knows. */
interface Readings {
  /** Runs in the queue. */
  queued: number;
  /** Resident memory of the server process. */
  serverMemoryMb: number;
}

interface AlertRule {
  name: Alert['name'];
  threshold: number;
  /** The least number of samples that raises an alert. */
  minimum: number;
  measure: (recent: RecentRuns, readings: Readings) => Figure;
  describe: (figure: Figure, threshold: number) => string;
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
      describe: ({ value, samples }, threshold) =>
        `95 % of the latest ${samples} runs took up to ${whole(value)} ms, waiting included; the threshold is ${threshold} ms.`,
    },
    {
      name: 'failure-rate',
      threshold: thresholds.alertFailureRate,
      minimum: MINIMUM_RUNS,
      measure: (recent) => recent.failurePercent(),
      describe: ({ value, samples }, threshold) =>
        `The server itself failed ${whole(value)} % of the latest ${samples} runs; the threshold is ${threshold} %.`,
    },
    {
      name: 'memory',
      threshold: thresholds.alertMemoryMb,
      minimum: 1,
      measure: (recent, { serverMemoryMb }) => now(serverMemoryMb + recent.togetherMb()),
      describe: ({ value }, threshold) =>
        `The server and the runs that were under way together used up to ${whole(value)} MB, each run at its peak; the threshold is ${threshold} MB.`,
    },
    {
      name: 'queue',
      threshold: thresholds.alertQueue,
      minimum: 1,
      measure: (_recent, { queued }) => now(queued),
      describe: ({ value }, threshold) => `${value} runs are waiting; the threshold is ${threshold}.`,
    },
  ];
  return rules.filter(({ threshold }) => threshold > 0);
}

/**
 * An alert clears after the value stayed below this share of the threshold for this long, so that it does not flap.
 */
const CALM_SHARE = 0.8;
const CALM_MS = 30_000;
const EVALUATE_EVERY_MS = 5000;
/** Evaluating scans all remembered runs, so it happens after a delay and not after every run. */
const EVALUATE_AFTER_MS = 500;

interface AlertOptions {
  logger: Logger;
  /** Called at every evaluation; without it, the readings last passed to evaluate() are used. */
  read?: () => Readings;
  /** Milliseconds since 1970; monotonic. */
  now?: () => number;
  post?: Post;
}

interface Raised {
  since: string;
  figure: Figure;
  calmSince: number | null;
}

/** Watches outcomes, raises an alert once when a threshold is exceeded, and clears it once when that is over. */
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
    this.#timer = setInterval(() => this.evaluate(), Math.min(EVALUATE_EVERY_MS, this.#windowMs)).unref();
  }

  /**
   * The thresholds that are exceeded now. An alert whose value has dropped is not included, even before it clears.
   */
  get current(): Alert[] {
    if (this.#rules.length > 0) this.evaluate();
    return [...this.#raised]
      .filter(([rule, { figure }]) => figure.value > rule.threshold)
      .map(([rule, { since, figure }]) => alertOf(rule, figure, since));
  }

  record(outcome: Outcome): void {
    if (this.#rules.length === 0) return;
    this.#recent.add(outcome, this.#now());
    this.#soon ??= setTimeout(() => this.evaluate(), EVALUATE_AFTER_MS).unref();
  }

  evaluate(readings?: Readings): void {
    if (readings !== undefined) this.#read = () => readings;
    clearTimeout(this.#soon);
    this.#soon = undefined;
    const at = this.#now();
    const current = this.#read();
    this.#recent.forgetBefore(at - this.#windowMs);
    for (const rule of this.#rules) this.#judge(rule, rule.measure(this.#recent, current), at);
  }

  /** Waits briefly for pending posts of the webhook. */
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

const alertOf = ({ name, threshold, describe }: AlertRule, figure: Figure, since: string): Alert => ({
  name,
  value: Math.round(figure.value * 100) / 100,
  threshold,
  since,
  message: describe(figure, threshold),
});

/** The most runs that are remembered per window. */
const KEPT = 500;

interface Answer {
  at: number;
  isFailure: boolean;
}

interface Run {
  at: number;
  startedAt: number;
  /** From the request to its outcome, including the wait for a worker, without installation. */
  latencyMs: number;
  peakMb: number;
  /** The sum of the peaks of all runs that were active when this one started, including this one. */
  togetherMb: number;
}

/** A measured value and the number of samples behind it. */
interface Figure {
  value: number;
  samples: number;
}

/** The outcomes of a time window, as far as alerts use them. */
class RecentRuns {
  #answers: Answer[] = [];
  #runs: Run[] = [];

  add({ verdict, usage, isolation, cached }: Outcome, at: number): void {
    // A cached outcome describes an earlier run.
    if (cached !== null) return;
    const fault = faultOf(verdict);
    if (fault !== 'caller') keep(this.#answers, { at, isFailure: fault === 'server' });
    if (isolation.tier === null) return;
    const { wallMs, waitMs, peakMemoryMb: peakMb } = usage;
    const latencyMs = waitMs + wallMs;
    keep(this.#runs, this.#together({ at, startedAt: at - wallMs, latencyMs, peakMb, togetherMb: peakMb }));
  }

  forgetBefore(time: number): void {
    for (const list of [this.#answers, this.#runs]) {
      const still = list.findIndex(({ at }) => at >= time);
      list.splice(0, still === -1 ? list.length : still);
    }
  }

  /** Returns the 95th percentile of the latency, so that a single slow run does not raise an alert. */
  latencyMs(): Figure {
    const sorted = Float64Array.from(this.#runs, (run) => run.latencyMs).sort();
    return { value: sorted[Math.floor((sorted.length - 1) * 0.95)] ?? 0, samples: sorted.length };
  }

  failurePercent(): Figure {
    const samples = this.#answers.length;
    const failures = this.#answers.filter(({ isFailure }) => isFailure).length;
    return { value: samples === 0 ? 0 : (failures / samples) * 100, samples };
  }

  /**
   * Returns the highest memory of concurrent runs. Only the peak of a run is known, and only after its end, so each
   * run counts with its peak for its whole duration: this is an upper bound.
   */
  togetherMb(): number {
    return this.#runs.reduce((most, run) => Math.max(most, run.togetherMb), 0);
  }

  /** When two runs overlap, the earlier one was active when the later one started. */
  #together(ended: Run): Run {
    // They are ordered by their ends.
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const other = this.#runs[index]!;
      if (other.at <= ended.startedAt) break;
      if (other.startedAt <= ended.startedAt) ended.togetherMb += other.peakMb;
      else other.togetherMb += ended.peakMb;
    }
    return ended;
  }
}

function keep<Entry>(list: Entry[], entry: Entry): void {
  list.push(entry);
  if (list.length > KEPT) list.shift();
}
