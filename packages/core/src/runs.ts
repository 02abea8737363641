import type { Artifacts } from './artifacts.js';
import type { AuditRecorder } from './audit/recorder.js';
import type { Advice } from './base/advice.js';
import { checkOptions, isCaller } from './base/arguments.js';
import { PungiError } from './base/errors.js';
import type { Logger } from './base/logger.js';
import { letOthersGo } from './base/turns.js';
import type { EnvironmentLock } from './contract/audit.js';
import { type Caller, callerOf } from './contract/caller.js';
import type { CodeSummary } from './contract/disclosure.js';
import type { Outcome } from './contract/outcome.js';
import type { ArtifactContent, RunOptions, RunRequest } from './contract/run.js';
import { FAILURES } from './contract/verdicts.js';
import type { AdmittedRun, Engine, EngineRunOptions, StartHooks } from './engine/engine.js';
import type { EnvironmentRef, PoolSpec } from './engine/environment-ref.js';
import type { Environments } from './environments/environments.js';
import { type EnvironmentResolver, stepsOf, withNotes } from './environments/resolver.js';
import { disclose } from './gate/disclosure.js';
import type { Admitted, Gate } from './gate/gate.js';
import type { ResultCache } from './gate/result-cache.js';
import { pointToFiles } from './gate/script-file.js';
import type { OpenUpload } from './gate/sources.js';
import { checkFits } from './gate/workspace-data.js';
import type { Alerts } from './metrics/alerts.js';
import type { Metrics } from './metrics/metrics.js';
import type { NetworkRefusals } from './pungi/network-refusals.js';
import { failed, refusal } from './pungi/refusal.js';
import { RunRecords, type Trace } from './pungi/run-records.js';
import { checkContinues, endedBy, noSessions, type Session, type Sessions } from './sessions.js';
import type { Uploads } from './uploads.js';

interface Parts {
  gate: Gate;
  cache: ResultCache;
  resolver: EnvironmentResolver;
  environments: Environments;
  engine: Engine;
  refusals: NetworkRefusals;
  metrics: Metrics;
  alerts: Alerts;
  audit: AuditRecorder;
  logger: Logger;
  advice: Advice;
  scriptRoots: string[];
  sessions: Sessions;
  /** null where nobody could ask for them later: a command. */
  artifacts: Artifacts | null;
  uploads: Uploads | null;
  /** The size of the files that a run may leave. */
  artifactBytes: number;
}

/** Differences from a plain run. */
export interface RunOverrides {
  /** Compiles in advance for the environment of the run. */
  bytecode?: (ref: EnvironmentRef | undefined) => Promise<string>;
  /** Repeats an old run in this environment, whatever its profile says now. */
  replay?: { of: string; venvName: string | undefined };
  /** The script is inspected instead of run; its outcome is not kept for anybody else. */
  inspect?: { toolName: string | undefined };
  /** Nobody waits for the run. */
  background?: StartHooks;
  /** A command whose run this server does for it: with its advice, and with the files for it alone. */
  command?: { advice: Advice; artifactBytes: number };
}

/**
 * The lifecycle of a run: admit, resolve the environment, lease it, run, record, return. No outcome is returned
 * before it is recorded.
 */
export class Runs {
  readonly #records: RunRecords;
  readonly #underWay = new Set<Promise<Outcome>>();
  #isClosed = false;

  constructor(private readonly parts: Parts) {
    this.#records = new RunRecords(parts.audit, parts.refusals);
  }

  /** Refuses new runs and waits until active runs have ended and are recorded. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.parts.sessions.closeAll();
    await Promise.all(this.#underWay);
  }

  /** Never rejects: invalid input, refusals and failures are verdicts. */
  async run(request: RunRequest, options: RunOptions, overrides: RunOverrides = {}): Promise<Outcome> {
    if (this.#isClosed) return refusal(new PungiError('CANCELLED', 'Pungi is shutting down.'), request?.code);
    const underWay = this.#run(request, options, overrides);
    this.#underWay.add(underWay);
    try {
      return await underWay;
    } finally {
      this.#underWay.delete(underWay);
    }
  }

  async #run(request: RunRequest, options: RunOptions, overrides: RunOverrides): Promise<Outcome> {
    const began = performance.now();
    const trace: Trace = {
      request,
      caller: callerIn(options),
      replayOf: overrides.replay?.of ?? null,
      background: overrides.background,
      admitted: undefined,
      executions: [],
      held: [],
    };
    const ended = await this.#attempt(trace, options, overrides);
    const outcome = withWait(ended, performance.now() - began, trace);
    const recorded = await this.#records.write(outcome, trace);
    this.#report(recorded);
    return recorded;
  }

  async #attempt(trace: Trace, options: RunOptions, overrides: RunOverrides): Promise<Outcome> {
    try {
      return await this.#admitAndRun(trace, options, overrides);
    } catch (thrown) {
      return refusedOutcome(trace, PungiError.from(thrown));
    } finally {
      for (const release of trace.held) release();
    }
  }

  async #admitAndRun(trace: Trace, options: RunOptions, overrides: RunOverrides): Promise<Outcome> {
    const { audit, sessions } = this.parts;
    checkOptions(options);
    // Runs of a session have the order in which they were asked for, however long each takes to be admitted.
    const turn = sessions.arrive(trace.request?.session, trace.caller);
    if (turn) trace.held.push(() => void turn.then((leave) => leave()));
    // A run that could not be recorded does not start.
    await audit.ready();
    let admitted = await this.#admit(trace, options, overrides);
    const { filesOf } = trace.request;
    if (filesOf !== undefined) admitted = await this.#withFilesOf(filesOf, admitted, trace);
    if (admitted.session !== undefined)
      return this.#runInSession(admitted.session, admitted, trace, options, turn);
    return this.#resolveAndRun(admitted, trace, options, overrides);
  }

  /** Adds the kept files of an earlier session or run of the caller; files of the request replace those. */
  async #withFilesOf(filesOf: string, admitted: Admitted, trace: Trace): Promise<Admitted> {
    const { artifacts } = this.parts;
    if (artifacts === null)
      throw new PungiError('INVALID_INPUT', 'No files of runs are kept here: leave out filesOf.');
    const place = isSession(filesOf) ? { session: filesOf } : { run: filesOf };
    const { files, release } = await artifacts.open(place, trace.caller);
    trace.held.push(release);
    const { job } = admitted;
    const given = new Set([...job.files, ...(job.sources ?? [])].map(({ path }) => path));
    const sources = [...files.filter(({ path }) => !given.has(path)), ...(job.sources ?? [])];
    checkFits(trace.request, job.limits, sources);
    // An outcome is cached by what the run was given, which does not include what is read while it begins.
    trace.admitted = { ...admitted, job: { ...job, sources }, cacheSeconds: 0 };
    return trace.admitted;
  }

  /** Throws SESSION_ENDED or SESSION_NOT_FOUND, with how to take the files of the session along. */
  async #find(handle: string, caller: Caller): Promise<Session> {
    const { sessions, artifacts } = this.parts;
    try {
      return sessions.find(handle, caller);
    } catch (thrown) {
      const { code, message } = PungiError.from(thrown);
      const kept = isSession(handle) ? await artifacts?.count({ session: handle }, caller) : 0;
      if (!kept) throw thrown;
      const why =
        code === 'SESSION_ENDED'
          ? message
          : 'This session was of an earlier start of the server, and its variables are gone. Start one with session: "new".';
      throw new PungiError(
        'SESSION_ENDED',
        `${why} Its ${kept === 1 ? 'file is kept: take it' : `${kept} files are kept: take them`} along with filesOf: "${handle}".`,
      );
    }
  }

  async #resolveAndRun(
    admitted: Admitted,
    trace: Trace,
    options: RunOptions,
    overrides: RunOverrides = {},
  ): Promise<Outcome> {
    const { resolver, scriptRoots: roots } = this.parts;
    const { advice } = overrides.command ?? this.parts;
    let resolved = await resolver.resolve(admitted, options);
    for (;;) {
      const ended = await this.#runIn(resolved.venvName, admitted, trace, options, overrides);
      const { outcome, again } = await resolver.judge(ended, resolved, admitted, options);
      if (again === null) {
        const noted = withNotes(outcome, admitted.notes);
        const isShown = admitted.job.place !== undefined;
        const places = { file: trace.request.file, roots, data: admitted.data, isShown };
        return pointToFiles(noted, places, advice.passFile);
      }
      resolved = again;
    }
  }

  /** Runs the code in a new session, or in the one with this handle, after the runs before it. */
  async #runInSession(
    handle: string,
    admitted: Admitted,
    trace: Trace,
    options: RunOptions,
    turn: Promise<unknown> | undefined,
  ): Promise<Outcome> {
    const { sessions, engine } = this.parts;
    if (!engine.backend.keepsWorkers) throw noSessions();
    const { profile, job } = admitted;
    const session =
      handle === 'new'
        ? sessions.open(trace.caller, { profile: profile?.name ?? null, limits: job.limits })
        : await this.#find(handle, trace.caller);
    const ending = session.closing.signal;
    const within = {
      ...options,
      signal: options.signal ? AbortSignal.any([ending, options.signal]) : ending,
    };
    try {
      const work = () =>
        session.place === undefined
          ? this.#resolveAndRun({ ...admitted, slot: session }, trace, within)
          : this.#continueIn(session, admitted, trace, within);
      const outcome = await sessions.during(session, work, 1, turn);
      if (session.worker === null && session.ended === undefined)
        sessions.close(session, session.gone ?? endedBy(outcome));
      else if (session.worker?.isKept === false) session.lost = endedBy(outcome);
      // A session that never had a process has lost nothing.
      if (handle === 'new' && outcome.isolation.tier === null) return outcome;
      return { ...outcome, session: session.state };
    } catch (thrown) {
      // Nothing of it has begun.
      if (session.worker === null && !session.isRunning)
        sessions.close(session, PungiError.from(thrown).message);
      throw thrown;
    }
  }

  /** A session stays where it began, with the limits on what it holds. */
  async #continueIn(
    session: Session,
    admitted: Admitted,
    trace: Trace,
    options: RunOptions,
  ): Promise<Outcome> {
    const { logger, sessions, environments } = this.parts;
    const { ref, lock } = session.place!;
    checkContinues(session, trace.request, environments.defaultName);
    sessions.checkAlive(session);
    const { timeoutMs, cpuMs, outputBytes, outputHardBytes } = admitted.job.limits;
    const limits = { ...session.origin.limits, timeoutMs, cpuMs, outputBytes, outputHardBytes };
    const job = { ...admitted.job, limits };
    const onStart = () => {
      logger.info('Executing Python script', { scriptSize: job.code.length, timeout: timeoutMs });
      trace.background?.onStart?.();
    };
    const run = { ...admitted, job, ref, slot: session };
    const outcome = await this.#execute(run, trace, { ...options, onStart });
    trace.executions.push({ outcome, lock });
    return withNotes(outcome, admitted.notes);
  }

  async #admit(
    trace: Trace,
    { local }: RunOptions,
    { replay, inspect, background }: RunOverrides,
  ): Promise<Admitted> {
    const began = performance.now();
    const uploads = this.#uploadsOf(trace);
    const asked = await this.parts.gate.admit(trace.request, local, {
      isBackground: background !== undefined,
      ...(uploads && { openUpload: uploads }),
    });
    await letOthersGo(began);
    trace.admitted =
      replay === undefined ? asked : { ...asked, venvName: replay.venvName, packages: [], added: [] };
    if (inspect !== undefined) {
      const { toolName } = inspect;
      const job = { ...asked.job, inspect: true, ...(toolName !== undefined && { toolName }) };
      trace.admitted = { ...trace.admitted, job };
    }
    return trace.admitted;
  }

  #uploadsOf({ caller, held }: Trace): OpenUpload | undefined {
    const { uploads } = this.parts;
    if (uploads === null) return undefined;
    return async (upload) => {
      const holding = uploads.hold(upload, caller);
      // The run may be refused for another upload before this one is found.
      held.push(() => void holding.then(({ release }) => release()).catch(() => {}));
      return (await holding).path;
    };
  }

  /** Runs the code in the current generation of an environment, or returns the cached outcome of the same run. */
  async #runIn(
    venvName: string | undefined,
    admitted: Admitted,
    trace: Trace,
    options: RunOptions,
    { bytecode, command }: RunOverrides,
  ): Promise<Outcome> {
    const { environments, cache, logger } = this.parts;
    const { cacheSeconds, isFresh } = admitted;
    return environments.in(venvName, stepsOf(options), async (ref) => {
      environments.noteUse(ref);
      const lock = await environments.lockOf(ref);
      const job = bytecode ? { ...admitted.job, bytecode: await bytecode(ref) } : admitted.job;
      const run = { ref, ...admitted, job };
      if (admitted.slot) this.#settle(admitted.slot as Session, ref, lock);
      const key = cacheSeconds > 0 ? cache.keyOf(run, await this.#identity(lock, ref)) : null;
      const kept = key === null || isFresh ? undefined : cache.get(key);
      if (kept) {
        trace.executions.push({ outcome: kept, lock });
        return disclosed(kept, admitted, kept.disclosure?.codeSummary ?? null);
      }
      const onStart = () => {
        const { timeoutMs } = job.limits;
        logger.info('Executing Python script', { scriptSize: job.code.length, timeout: timeoutMs });
        trace.background?.onStart?.();
      };
      let summary: CodeSummary | null = null;
      const onSummary = (found: CodeSummary) => {
        summary = found;
      };
      const outcome = await this.#execute(run, trace, { ...options, onStart, onSummary }, command);
      trace.executions.push({ outcome, lock });
      const whole = disclosed(outcome, admitted, summary);
      if (key !== null) cache.set(key, whole, cacheSeconds);
      return whole;
    });
  }

  /** Runs the job. The files that it leaves are kept before its outcome is returned. */
  async #execute(
    run: AdmittedRun,
    { caller, background }: Trace,
    given: EngineRunOptions,
    command?: RunOverrides['command'],
  ): Promise<Outcome> {
    const { engine, logger } = this.parts;
    const { artifacts, artifactBytes } = command ? { ...command, artifacts: null } : this.parts;
    const options = { ...background, ...given, advice: command?.advice };
    const { onFiles } = options;
    const wantsFiles = !run.job.inspect && (artifacts !== null || onFiles !== undefined);
    if (!wantsFiles || artifactBytes === 0) return engine.run(run, options);
    let kept: Promise<void> | undefined;
    const keep = (runId: string, files: readonly ArtifactContent[]) => {
      onFiles?.(runId, files);
      kept = artifacts?.keep(runId, caller, files, (run.slot as Session | undefined)?.id);
    };
    const job = { artifactBytes, ...run.job };
    const outcome = await engine.run({ ...run, job }, { ...options, onFiles: keep });
    try {
      await kept;
      return outcome;
    } catch (thrown) {
      const reason = PungiError.from(thrown).message;
      logger.error('The files of a run could not be kept', { runId: outcome.runId, reason });
      const { artifacts: _, ...rest } = outcome;
      // A message of the system names folders of the server.
      const why = thrown instanceof PungiError ? reason : "the server's log says why.";
      return withNotes(rest, [`The files that the run left could not be kept: ${why}`]);
    }
  }

  /** A session begins here: a worker of an earlier attempt, before packages were installed, is released. */
  #settle(session: Session, ref: EnvironmentRef | undefined, lock: EnvironmentLock | null): void {
    session.place = { ref, lock };
    session.worker?.release();
    session.worker = null;
  }

  /** Runs code for Pungi's own use: sandbox and limits apply, no profile does, and it is not recorded. */
  async runOwn(request: RunRequest, options: RunOptions = {}, poolSpec?: PoolSpec): Promise<Outcome> {
    const { gate, resolver, environments, engine } = this.parts;
    try {
      checkOptions(options);
      const admitted = await gate.admitOwn(request);
      let resolved = await resolver.resolve(admitted, options);
      for (;;) {
        const ended = await environments.in(resolved.venvName, stepsOf(options), (ref) => {
          environments.noteUse(ref);
          return engine.run({ ...admitted, ref, ...(poolSpec && { poolSpec }) }, options);
        });
        const { outcome, again } = await resolver.judge(ended, resolved, admitted, options);
        if (again === null) return outcome;
        resolved = again;
      }
    } catch (thrown) {
      return refusal(PungiError.from(thrown), request?.code);
    }
  }

  /** Returns a key of everything besides the code that determines its behaviour. */
  async #identity(lock: EnvironmentLock | null, ref: EnvironmentRef | undefined): Promise<string> {
    const { path, version } = (await this.parts.engine.started).interpreter;
    return `${lock?.sha256 ?? ''} ${ref?.python ?? ''} ${path} ${version}`;
  }

  #report(outcome: Outcome): void {
    const { metrics, alerts, logger } = this.parts;
    metrics.record(outcome);
    alerts.record(outcome);
    logOutcome(outcome, logger);
  }
}

const isSession = (handle: string) => handle.startsWith('session-');

/** Invalid options are refused later, so they may be of any type here. */
const callerIn = (options: RunOptions): Caller =>
  typeof options === 'object' && isCaller(options?.caller) ? callerOf(options.caller) : callerOf();

/** Returns the outcome of a request that failed. The result of code that ran is kept, whatever failed afterwards. */
function refusedOutcome({ request, admitted, executions }: Trace, error: PungiError): Outcome {
  const last = executions.at(-1)?.outcome;
  if (last) return failed(last, error);
  const refused = refusal(error, request?.code, admitted?.profile?.name);
  const { summary } = error.details as { summary?: CodeSummary };
  return admitted && summary ? disclosed(refused, admitted, summary) : refused;
}

/** Logs every failure as an error with its code and message; a refused run is not logged as executed. */
function logOutcome({ verdict, runId, usage, isolation, profile }: Outcome, logger: Logger): void {
  const facts = { runId, verdict: verdict.kind, profile, usage, tier: isolation.tier };
  if (verdict.kind === 'ok') {
    logger.info('Executed Python script', facts);
    return;
  }
  const { logged } = FAILURES[verdict.kind];
  const failed = { ...facts, code: verdict.code, message: verdict.message };
  if (logged === 'cancelled') logger.info('Python script was cancelled', failed);
  else logger.error(logged === 'refused' ? 'Python script was refused' : 'Python script failed', failed);
}

/**
 * Counts all time that was neither running nor installing as waiting: for the queue, the environment, its locks, a
 * worker.
 */
function withWait(outcome: Outcome, tookMs: number, { executions }: Trace): Outcome {
  const ran = executions.filter((one) => one.outcome.cached === null);
  const ranMs = ran.reduce((sum, one) => sum + one.outcome.usage.wallMs, 0);
  const restMs = tookMs - ranMs - outcome.usage.installMs;
  const waitMs = Math.round(Math.max(restMs, outcome.cached ? 0 : outcome.usage.waitMs) * 1000) / 1000;
  return { ...outcome, usage: { ...outcome.usage, waitMs } };
}

function disclosed(
  outcome: Outcome,
  { profile, capability }: Admitted,
  summary: CodeSummary | null,
): Outcome {
  if (!profile?.disclosure) return outcome;
  const { isolation, verdict } = outcome;
  const wasRefused = verdict.kind === 'denied';
  return { ...outcome, disclosure: disclose({ capability, profile, summary, isolation, wasRefused }) };
}
