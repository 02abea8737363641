import { callerOf } from '../contract/caller.js';
import type { StepOptions } from '../contract/environment.js';
import type { Completion, PromptInput, PromptRequest } from '../contract/prompt.js';
import type { Engine } from '../engine/engine.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import type { Environments } from '../environments/environments.js';
import { type EnvironmentResolver, stepsOf } from '../environments/resolver.js';
import type { Gate } from '../gate/gate.js';
import type { Job } from '../runtime/job.js';
import { noSessions, type Session, type Sessions } from '../sessions.js';

interface Parts {
  gate: Gate;
  resolver: EnvironmentResolver;
  environments: Environments;
  engine: Engine;
  sessions: Sessions;
}

/** A person waits for it. Foreign code that takes longer is interrupted. */
const TIME = { timeoutMs: 3000, cpuMs: 3000 };
const ENDED = 'It ended while a line was completed.';
/** A longer line is completed from its end. */
const LONGEST_LINE = 1000;

/** Helps a person at a prompt: nothing of it is a run, or recorded. */
export class Prompt {
  constructor(private readonly parts: Parts) {}

  /** Says how a line may go on. Throws what a run in the session would be refused with. */
  async complete({ code, ...request }: PromptRequest, options: StepOptions): Promise<Completion> {
    const { sessions, engine } = this.parts;
    const { session: handle = 'new' } = request;
    const line = code.slice(-LONGEST_LINE);
    if (handle === 'new')
      return this.#inFresh(request, line, options, (job, ref) => engine.complete(job, ref));
    const session = sessions.find(handle, callerOf(options.caller));
    return sessions.during(session, () => this.#completeIn(session, line), 0);
  }

  /** Says whether code is whole. `isTyped`: it came line by line, so that an empty line ends a block. */
  async read(
    { code, ...request }: PromptRequest & { isTyped?: boolean },
    options: StepOptions,
  ): Promise<PromptInput> {
    const { isTyped = false, ...where } = request;
    return this.#inFresh(where, code, options, (job, ref) =>
      this.parts.engine.read({ ...job, isTyped }, ref),
    );
  }

  /** Asks a fresh worker, in the environment of the session. */
  async #inFresh<T>(
    request: Omit<PromptRequest, 'code'>,
    code: string,
    options: StepOptions,
    ask: (job: Job, ref: EnvironmentRef | undefined) => Promise<T>,
  ): Promise<T> {
    const { gate, resolver, environments, engine } = this.parts;
    await engine.started;
    if (!engine.backend.keepsWorkers) throw noSessions();
    const admitted = await gate.admit({ ...request, code: '', session: 'new' });
    const { venvName } = await resolver.resolve(admitted, options);
    const { job } = await gate.admitOwn({ code });
    const bounded = { ...job, limits: { ...job.limits, ...TIME } };
    return environments.in(venvName, stepsOf(options), (ref) => ask(bounded, ref));
  }

  async #completeIn(session: Session, code: string): Promise<Completion> {
    const { gate, engine, sessions } = this.parts;
    sessions.checkAlive(session);
    const { job } = await gate.admitOwn({ code });
    const limits = { ...session.origin.limits, ...TIME };
    const completion = await engine.complete({ ...job, limits, session: true }, session.place?.ref, session);
    if (session.worker === null) sessions.close(session, ENDED);
    else if (!session.worker.isKept) session.lost = ENDED;
    return completion;
  }
}
