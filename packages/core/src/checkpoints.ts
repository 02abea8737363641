import type { AuditRecorder } from './audit/recorder.js';
import { PungiError } from './base/errors.js';
import type { Logger } from './base/logger.js';
import type { Caller } from './contract/caller.js';
import type { SessionState } from './contract/session.js';
import type { Copied, WorkerCopies } from './engine/backend.js';
import type { Engine } from './engine/engine.js';
import type { Session, Sessions } from './sessions.js';

/** Checkpoints of one session: each is a stopped process. The oldest makes room for a new one. */
const MOST_CHECKPOINTS = 8;

interface Parts {
  sessions: Sessions;
  engine: Engine;
  audit: AuditRecorder;
  logger: Logger;
}

type Action = 'checkpoint' | 'restore' | 'fork';

/** A session after something was done to its copies. */
export interface CheckpointState extends SessionState {
  /** The checkpoint that was made or restored. */
  checkpoint: string;
}

/**
 * Copies of live sessions, with variables and files. What cannot be copied, such as threads, is reported before anything
 * happens.
 */
export class Checkpoints {
  constructor(private readonly parts: Parts) {}

  /** Throws SESSION_NOT_COPIED with what is in the way. */
  async make(id: string, caller: Caller): Promise<CheckpointState> {
    return this.#during(id, caller, 'checkpoint', async (session, copies, stop) => {
      const checkpoint = copyIn(await copies.save(session.origin.limits, stop), NOT_COPIED);
      const [oldest = ''] = copies.checkpoints;
      if (copies.checkpoints.length > MOST_CHECKPOINTS) copies.drop(oldest);
      return { ...session.state, checkpoint };
    });
  }

  /** Also for a session whose process has ended. Throws INVALID_INPUT if it has no such checkpoint. */
  async restore(id: string, checkpoint: string, caller: Caller): Promise<CheckpointState> {
    return this.#during(id, caller, 'restore', async (session, copies, stop) => {
      if (!copies.checkpoints.includes(checkpoint)) throw noCheckpoint(copies.checkpoints);
      copyIn(await copies.load(checkpoint, session.origin.limits, stop), NOT_RESTORED);
      session.lost = undefined;
      return { ...session.state, checkpoint };
    });
  }

  /** Returns the new session. Both share their limits and take turns. */
  async fork(id: string, caller: Caller): Promise<SessionState> {
    const { sessions } = this.parts;
    return this.#during(id, caller, 'fork', async (session, copies, stop) => {
      const forked = sessions.open(caller, session.origin, session.turns);
      try {
        const worker = copyIn(await copies.fork(session.origin.limits, stop), NOT_COPIED);
        sessions.give(forked, worker);
      } catch (thrown) {
        sessions.close(forked, PungiError.from(thrown).message);
        throw thrown;
      }
      forked.place = session.place;
      forked.calls = session.calls;
      sessions.watch(forked);
      return forked.state;
    });
  }

  /** The copy is recorded before its maker hears of it; without a trail that can be written none is made. */
  async #during<T extends SessionState & { checkpoint?: string }>(
    id: string,
    caller: Caller,
    action: Action,
    work: (session: Session, copies: WorkerCopies, stop: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { sessions, engine, audit, logger } = this.parts;
    const session = sessions.find(id, caller);
    const copied = async () => {
      await audit.ready();
      if (action !== 'restore' || session.checkpoints.length === 0) sessions.checkAlive(session);
      const copies = session.worker!.copies!;
      try {
        return await engine.copy(caller, session.closing.signal, (stop) => work(session, copies, stop));
      } finally {
        this.#look(session);
      }
    };
    const result = await sessions.during(session, copied, 0);
    await audit.session({
      client: caller.client,
      token: caller.token,
      action,
      session: id,
      checkpoint: result.checkpoint ?? null,
      forked: action === 'fork' ? result.id : null,
      environment: session.place?.ref?.environment ?? null,
      profile: session.origin.profile,
    });
    logger.info('Copied a session', { action });
    return result;
  }

  /** Copying runs code of the session, which may end it. */
  #look(session: Session): void {
    if (session.worker?.isKept === true) return;
    if (session.checkpoints.length > 0) session.lost ??= 'Its process ended when it was copied.';
    else this.parts.sessions.close(session, 'Its process ended when it was copied.');
  }
}

const NOT_COPIED = 'The session cannot be copied, and is as before. In the way:';
const NOT_RESTORED = 'The checkpoint could not be restored:';

function copyIn<T>(copied: Copied<T>, otherwise: string): T {
  if ('copy' in copied) return copied.copy;
  const { obstacles } = copied;
  throw new PungiError('SESSION_NOT_COPIED', `${otherwise} ${obstacles.join('; ')}.`, { obstacles });
}

function noCheckpoint(checkpoints: readonly string[]): PungiError {
  const why =
    checkpoints.length === 0 ? 'The session has no checkpoint.' : `It has ${checkpoints.join(', ')}.`;
  return new PungiError('INVALID_INPUT', `There is no such checkpoint. ${why}`, { issues: [why] });
}
