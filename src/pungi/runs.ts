import type { AuditRecorder } from '../audit/recorder.js';
import { inputsOf, type RunFacts } from '../audit/run-facts.js';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { EnvironmentLock } from '../contract/audit.js';
import type { CodeSummary } from '../contract/disclosure.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunOptions, RunRequest } from '../contract/run.js';
import type { Engine } from '../engine/engine.js';
import type { Home } from '../engine/home.js';
import type { Environments } from '../environments/environments.js';
import type { Placement } from '../environments/placement.js';
import { disclose } from '../gate/disclosure.js';
import type { Admitted, Gate } from '../gate/gate.js';
import type { ResultCache } from '../gate/result-cache.js';
import type { Alerts } from '../metrics/alerts.js';
import type { Metrics } from '../metrics/metrics.js';
import type { NetworkRefusals } from './network-refusals.js';
import { refusal } from './refusal.js';

interface Parts {
  gate: Gate;
  cache: ResultCache;
  placement: Placement;
  environments: Environments;
  engine: Engine;
  refusals: NetworkRefusals;
  metrics: Metrics;
  alerts: Alerts;
  audit: AuditRecorder;
  logger: Logger;
}

/** What differs from a plain run. */
export interface Special {
  /** Compiled before, for the home that the run is in. */
  bytecode?: (home: Home | undefined) => Promise<string>;
  /** An old run that is run again, in this environment, whatever its profile says now. */
  replay?: { of: string; venvName: string | undefined };
}

/** What becomes known of a run on its way, for the record. */
interface Trace {
  admitted: Admitted | undefined;
  lock: EnvironmentLock | null;
}

/** The way of a run through the house: it is admitted, looked up, placed, run, and recorded before anybody hears of it. */
export class Runs {
  readonly #underWay = new Set<Promise<Outcome>>();
  #isClosed = false;
  #latest: RunFacts | undefined;

  constructor(private readonly parts: Parts) {}

  /** Takes no more, and waits until what is under way has ended and is recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay);
  }

  /** Never rejects: bad input, refusals and failures are verdicts. */
  async run(request: RunRequest, options: RunOptions, special: Special = {}): Promise<Outcome> {
    if (this.#isClosed) return refusal(new PungiError('CANCELLED', 'Pungi is shutting down.'), request?.code);
    const underWay = this.#run(request, options, special);
    this.#underWay.add(underWay);
    return underWay.finally(() => this.#underWay.delete(underWay));
  }

  async #run(request: RunRequest, options: RunOptions, special: Special): Promise<Outcome> {
    const trace: Trace = { admitted: undefined, lock: null };
    const outcome = await this.#attempt(request, options, special, trace).catch((thrown: unknown) =>
      refusal(PungiError.from(thrown), request?.code, trace.admitted?.profile?.name),
    );
    const told = await this.#record(request, outcome, trace, special.replay?.of);
    this.#note(told);
    return told;
  }

  /** For what Pungi itself wants to know: under the sandbox and the limits, but no profile, and not recorded. */
  async runOwn(request: RunRequest, options: RunOptions = {}): Promise<Outcome> {
    const { gate, placement, engine } = this.parts;
    try {
      const admitted = await gate.admitOwn(request);
      return await placement.run(admitted, options, (home) => engine.run({ ...admitted, home }, options));
    } catch (thrown) {
      return refusal(PungiError.from(thrown), request.code);
    }
  }

  async #attempt(
    request: RunRequest,
    options: RunOptions,
    { bytecode, replay }: Special,
    trace: Trace,
  ): Promise<Outcome> {
    // What could not be recorded is not run.
    await this.parts.audit.ready();
    const asked = await this.parts.gate.admit(request);
    const admitted = replay === undefined ? asked : { ...asked, venvName: replay.venvName, packages: [] };
    trace.admitted = admitted;
    return this.parts.placement.run(admitted, options, async (home) => {
      trace.lock = await this.parts.environments.lockOf(home);
      const compiled = await bytecode?.(home);
      const job = compiled === undefined ? admitted.job : { ...admitted.job, bytecode: compiled };
      return this.#execute({ ...admitted, job }, home, trace.lock, options);
    });
  }

  async #execute(
    admitted: Admitted,
    home: Home | undefined,
    lock: EnvironmentLock | null,
    options: RunOptions,
  ): Promise<Outcome> {
    const { cache, engine, logger } = this.parts;
    const { cacheSeconds, isFresh, job } = admitted;
    const key = cacheSeconds > 0 ? cache.keyOf(admitted, await this.#identity(lock, home)) : null;
    const kept = key === null || isFresh ? undefined : cache.get(key);
    if (kept) return disclosed(kept, admitted, kept.disclosure?.codeSummary ?? null);
    logger.info('Executing Python script', { scriptSize: job.code.length, timeout: job.limits.timeoutMs });
    let summary: CodeSummary | null = null;
    const onSummary = (told: CodeSummary) => {
      summary = told;
    };
    const running = engine.run({ ...admitted, home }, { ...options, onSummary });
    setImmediate(() => this.#rehearse());
    const outcome = await running;
    const whole = disclosed(outcome, admitted, summary);
    if (key !== null) cache.set(key, whole, cacheSeconds);
    return whole;
  }

  /** What decides how code behaves beside itself. */
  async #identity(lock: EnvironmentLock | null, home: Home | undefined): Promise<string> {
    const { path, version } = (await this.parts.engine.started).interpreter;
    return `${lock?.sha256 ?? ''} ${home?.python ?? ''} ${path} ${version}`;
  }

  /** The server has nothing to do while a single run goes on: it gets ready to record it, for which the caller will wait. */
  #rehearse(): void {
    const { audit, engine } = this.parts;
    if (this.#latest && engine.queue.active === 1 && engine.queue.waiting === 0) audit.rehearse(this.#latest);
  }

  #note(outcome: Outcome): void {
    const { metrics, alerts, logger } = this.parts;
    const { verdict, runId, usage, isolation } = outcome;
    metrics.record(outcome);
    alerts.record(outcome);
    logger.info('Executed Python script', { runId, verdict: verdict.kind, usage, tier: isolation.tier });
  }

  /** Nobody is told what a run gave before its entry is written; where it cannot be, that is what is told. */
  async #record(
    request: RunRequest,
    outcome: Outcome,
    { admitted, lock }: Trace,
    replayOf: string | null = null,
  ): Promise<Outcome> {
    if (outcome.verdict.kind === 'unrecorded') return outcome;
    const { audit, refusals } = this.parts;
    const { runId, environment, profile } = outcome;
    const job = admitted?.job;
    const who = { client: clientOf(request), token: null };
    try {
      for (const refused of refusals.take(runId)) {
        // The entry of the run waits for these, and fails with them.
        audit.denial({ ...who, ...refused, runId, environment, profile }).catch(() => {});
      }
      this.#latest = {
        ...who,
        code: job?.code ?? codeOf(request),
        inputs: job === undefined ? null : inputsOf(request),
        limits: job?.limits ?? null,
        lock,
        outcome,
        replayOf,
      };
      await audit.run(this.#latest);
      return outcome;
    } catch (thrown) {
      return refusal(PungiError.from(thrown), job?.code, profile);
    }
  }
}

function disclosed(
  outcome: Outcome,
  { profile, capability }: Admitted,
  summary: CodeSummary | null,
): Outcome {
  if (!profile?.disclosure) return outcome;
  const { isolation } = outcome;
  return { ...outcome, disclosure: disclose({ capability, profile, summary, isolation }) };
}

/** A request that was refused may be anything. */
const codeOf = (request: Partial<RunRequest> | undefined) =>
  typeof request?.code === 'string' ? request.code : null;
const clientOf = (request: Partial<RunRequest> | undefined) =>
  typeof request?.client === 'string' ? request.client : '';
