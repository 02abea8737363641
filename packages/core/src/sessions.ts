import { randomBytes } from 'node:crypto';
import { PungiError } from './base/errors.js';
import { Semaphore } from './base/turns.js';
import type { EnvironmentLock } from './contract/audit.js';
import { type Caller, ownerOf } from './contract/caller.js';
import type { Limits } from './contract/limits.js';
import type { Outcome } from './contract/outcome.js';
import type { RunRequest } from './contract/run.js';
import type { SessionInfo, SessionState } from './contract/session.js';
import type { Worker } from './engine/backend.js';
import type { EnvironmentRef } from './engine/environment-ref.js';

export interface SessionLimits {
  /** Sessions of all callers together. */
  total: number;
  perCaller: number;
  idleMs: number;
  lifetimeMs: number;
}

/** What a session was started with. */
export interface SessionOrigin {
  profile: string | null;
  limits: Limits;
}

/** Runs of one session that may wait for each other. */
const MOST_WAITING = 16;
/** Ended sessions whose reason is remembered. */
const MOST_REMEMBERED = 1000;

/** A worker that its owner keeps: variables, imports and files stay from one run to the next. */
export class Session {
  readonly id = `session-${randomBytes(16).toString('base64url')}`;
  /** Set while the worker waits for the next run. */
  worker: Worker | null = null;
  /** Why it has no worker any more, if that is not the doing of its runs. */
  gone: string | undefined;
  /** Where it runs, from its first run on. */
  place: { ref: EnvironmentRef | undefined; lock: EnvironmentLock | null } | undefined;
  calls = 0;
  waiting = 0;
  isRunning = false;
  ended: string | undefined;
  /** Why its process has ended, if checkpoints are left. */
  lost: string | undefined;
  readonly startedAt = Date.now();
  lastUsedAt = Date.now();
  /** Aborts the run under way when the session is ended. */
  readonly closing = new AbortController();

  constructor(
    readonly owner: string,
    readonly origin: SessionOrigin,
    /** Sessions that are forked from each other take turns. */
    readonly turns = new Semaphore(1),
  ) {}

  get checkpoints(): readonly string[] {
    return this.worker?.copies?.checkpoints ?? [];
  }

  get state(): SessionState {
    const { id, calls, checkpoints } = this;
    const ended = this.ended ?? (this.lost && `${this.lost} ${restoreOne(checkpoints)}`);
    return {
      id,
      alive: ended === undefined,
      calls,
      ...(ended !== undefined && { ended }),
      ...(checkpoints.length > 0 && { checkpoints: [...checkpoints] }),
    };
  }
}

/**
 * The sessions of all callers. A handle cannot be guessed, and is bound to its caller, not to a connection: a caller
 * finds its sessions again after it has reconnected.
 */
export class Sessions {
  readonly #alive = new Map<string, Session>();
  readonly #timers = new Map<Session, NodeJS.Timeout>();
  /** Why sessions ended, by handle and owner. */
  readonly #ended = new Map<string, { owner: string; reason: string }>();

  constructor(private readonly limits: SessionLimits) {}

  /** Throws SERVER_BUSY if there are too many. `turns`: of the session that it is forked from. */
  open(caller: Caller, origin: SessionOrigin, turns?: Semaphore): Session {
    const { total, perCaller } = this.limits;
    this.#endGone();
    const owner = ownerOf(caller);
    const own = [...this.#alive.values()].filter((session) => session.owner === owner).length;
    if (own >= perCaller)
      throw tooMany(`You have ${own} sessions, which is the limit (MAX_SESSIONS_PER_CALLER)`, BY_CALLER);
    if (this.#alive.size >= total)
      throw tooMany(`The server has ${this.#alive.size} sessions, which is the limit (MAX_SESSIONS)`);
    const session = new Session(owner, origin, turns);
    this.#alive.set(session.id, session);
    return session;
  }

  /** Throws SESSION_ENDED with the reason, or SESSION_NOT_FOUND. */
  find(id: string, caller: Caller): Session {
    const session = this.#alive.get(id);
    if (session?.owner === ownerOf(caller)) return session;
    const ended = this.#ended.get(id);
    if (ended?.owner === ownerOf(caller)) throw sessionEnded(ended.reason);
    throw new PungiError(
      'SESSION_NOT_FOUND',
      'There is no such session: it may be of an earlier start of the server. Start one with session: "new".',
    );
  }

  /** Takes the next turn in a session of the caller, if there is such a one. The turn ends when the result is called. */
  arrive(id: unknown, caller: Caller): Promise<() => void> | undefined {
    const session = this.#alive.get(id as string);
    return session?.owner === ownerOf(caller) ? session.turns.enter() : undefined;
  }

  /**
   * Lets the runs of a session take turns; between them it may only be idle for so long. `calls`: how many runs the work
   * counts as. `turn`: the one that it has taken already, and ends itself.
   */
  async during<T>(session: Session, work: () => Promise<T>, calls = 1, turn?: Promise<unknown>): Promise<T> {
    if (session.waiting >= MOST_WAITING)
      throw new PungiError(
        'SERVER_BUSY',
        `${session.waiting} runs wait for this session; try again shortly.`,
        BY_CALLER,
      );
    session.waiting += 1;
    this.#stopTimer(session);
    const inTurn = async () => {
      if (session.ended !== undefined) throw sessionEnded(session.ended);
      session.lastUsedAt = Date.now();
      session.isRunning = true;
      try {
        return await work();
      } finally {
        session.isRunning = false;
        session.calls += calls;
        session.lastUsedAt = Date.now();
        if (session.ended !== undefined) release(session);
      }
    };
    try {
      return await (turn === undefined ? session.turns.take(inTurn) : turn.then(inTurn));
    } finally {
      session.waiting -= 1;
      if (session.waiting === 0 && session.ended === undefined) this.#startTimer(session);
    }
  }

  list(caller: Caller): SessionInfo[] {
    this.#endGone();
    const owner = ownerOf(caller);
    return [...this.#alive.values()]
      .filter((session) => session.owner === owner)
      .map((one) => this.#describe(one));
  }

  /** Ends a session of the caller. A run in it is cancelled. */
  end(id: string, caller: Caller): void {
    this.close(this.find(id, caller), 'It was ended with end_session.');
  }

  close(session: Session, reason: string): void {
    if (session.ended !== undefined) return;
    session.ended = reason;
    this.#stopTimer(session);
    this.#alive.delete(session.id);
    this.#ended.set(session.id, { owner: session.owner, reason });
    if (this.#ended.size > MOST_REMEMBERED) this.#ended.delete(this.#ended.keys().next().value!);
    session.closing.abort(sessionEnded(reason));
    if (!session.isRunning) release(session);
  }

  /** Throws SESSION_ENDED if the session has no process. One without checkpoints ends. */
  checkAlive(session: Session): void {
    const { worker, checkpoints } = session;
    if (worker?.isKept === true) return;
    const reason = worker?.goneBecause ?? LOST;
    if (checkpoints.length > 0) throw sessionLost(session.lost ?? reason, checkpoints);
    this.close(session, reason);
    throw sessionEnded(reason);
  }

  /** Ends those whose process is gone, with its machine for example, and which nothing is left of. */
  #endGone(): void {
    for (const session of [...this.#alive.values()]) {
      const { worker, waiting, checkpoints } = session;
      if (worker === null || worker.isKept || waiting > 0 || checkpoints.length > 0) continue;
      this.close(session, worker.goneBecause ?? LOST);
    }
  }

  /** Gives a session its first worker. Throws SESSION_ENDED if it was ended meanwhile. */
  give(session: Session, worker: Worker): void {
    session.worker = worker;
    if (session.ended === undefined) return;
    release(session);
    throw sessionEnded(session.ended);
  }

  closeAll(): void {
    for (const session of this.#alive.values()) this.close(session, 'The server was stopped.');
  }

  #startTimer(session: Session): void {
    const { idleMs, lifetimeMs } = this.limits;
    const leftMs = session.startedAt + lifetimeMs - Date.now();
    const reason =
      leftMs < idleMs
        ? `It had reached its longest time, ${minutes(lifetimeMs)} (SESSION_LIFETIME_MS).`
        : `It was not used for ${minutes(idleMs)} (SESSION_IDLE_MS).`;
    const timer = setTimeout(() => this.close(session, reason), Math.max(0, Math.min(idleMs, leftMs)));
    timer.unref();
    this.#timers.set(session, timer);
  }

  #stopTimer(session: Session): void {
    clearTimeout(this.#timers.get(session));
    this.#timers.delete(session);
  }

  /** A session that nobody has used yet also ends. */
  watch(session: Session): void {
    if (session.waiting === 0 && session.ended === undefined) this.#startTimer(session);
  }

  #describe(session: Session): SessionInfo {
    const { id, place, origin, calls, waiting, startedAt, lastUsedAt, lost, checkpoints } = session;
    const { idleMs, lifetimeMs } = this.limits;
    const at = (ms: number) => new Date(ms).toISOString();
    return {
      id,
      environment: place?.ref?.environment ?? null,
      profile: origin.profile,
      calls,
      busy: waiting > 0,
      alive: lost === undefined,
      checkpoints: [...checkpoints],
      startedAt: at(startedAt),
      lastUsedAt: at(lastUsedAt),
      endsAt: at(Math.min(lastUsedAt + idleMs, startedAt + lifetimeMs)),
    };
  }
}

function release(session: Session): void {
  const { worker } = session;
  session.worker = null;
  worker?.release();
}

const minutes = (ms: number) =>
  ms >= 60_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 1000)} s`;

const tooMany = (why: string, details = {}) =>
  new PungiError('SERVER_BUSY', `${why}: end one with end_session.`, details);

/** A limit of the caller: the server has room for others. */
const BY_CALLER = { fault: 'caller' };

export const noSessions = () =>
  new PungiError('SANDBOX_UNAVAILABLE', 'The spawn tier has no sessions: leave out session.');

const sessionEnded = (reason: string) =>
  new PungiError(
    'SESSION_ENDED',
    `This session has ended, and its variables are gone. ${reason} Start one with session: "new".`,
  );

const sessionLost = (reason: string, checkpoints: readonly string[]) =>
  new PungiError('SESSION_ENDED', `The session's process has ended. ${reason} ${restoreOne(checkpoints)}`, {
    checkpoints: [...checkpoints],
  });

const restoreOne = (checkpoints: readonly string[]) =>
  `Restore a checkpoint to go on: ${checkpoints.join(', ')}.`;

/** Why a session ended whose process is gone. */
const LOST = 'Its process was ended from outside.';

/** Why a session ended with a run. */
export const endedBy = ({ verdict }: Outcome) =>
  verdict.kind === 'ok' ? 'Its process ended.' : `Its last run ended it: ${verdict.message}`;

/** A session keeps its environment and profile: throws INVALID_INPUT if the request names others. */
export function checkContinues(
  { place, origin }: Session,
  { venvName, profile, packages }: RunRequest,
  defaultName: string,
): void {
  const kept = { venvName: place?.ref?.environment ?? defaultName, profile: origin.profile };
  const asked = { venvName, profile };
  const issues = (['venvName', 'profile'] as const)
    .filter((name) => asked[name] !== undefined && asked[name] !== kept[name])
    .map((name) => `${name} is that of the session, "${kept[name]}": leave it out, or start a new session`);
  if (packages !== undefined)
    issues.push('packages are those of the session: leave them out, or start a new session');
  if (issues.length > 0)
    throw new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });
}
