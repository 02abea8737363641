import type { Msg, Subscription } from '@nats-io/transport-node';
import { type Logger, PungiError } from '@pungi/core/base';
import type { EnvironmentEvent, PackageReport, StepOptions } from '@pungi/core/contract';
import { GenerationGone } from '@pungi/core/engine';
import {
  foldName,
  type ImportRequest,
  type LocalEnvironments,
  minorOf,
  parseLockFile,
  renderLockFile,
} from '@pungi/core/environments';
import {
  type ChangeAnswer,
  type ChangeEvent,
  ChangeRequest,
  Dismiss,
  type Entry,
  type EntryRef,
  type Operation,
  Poll,
} from '../protocol/environments.js';
import { pack } from '../protocol/messages.js';
import { QUEUE, type WorkerKey } from '../protocol/subjects.js';
import { incompatible, isCompatible } from '../protocol/version.js';
import type { Generations } from './generations.js';
import type { SignedInbox } from './signed-inbox.js';
import type { Wheels } from './wheels.js';

export interface ChangesParts {
  inbox: SignedInbox;
  environments: LocalEnvironments;
  generations: Generations;
  wheels: Wheels;
  read: (ref: EntryRef) => Promise<Entry>;
  key: WorkerKey;
  /** The subject of the requests. */
  subject: string;
  reply: (front: string, token: string, message: Buffer) => void;
  /** Called with the front end of a change that is taken. */
  onTaken: (front: string) => void;
  logger: Logger;
}

interface Change {
  front: string;
  abort: AbortController;
  /** The last answer. */
  answer: Buffer;
  ended: Promise<void>;
}

type Named = Extract<Operation, { venvName: string }>;

/**
 * Makes and changes environments for front ends: it brings a local copy to the state that the cluster has, changes it as on one
 * machine, returns its new state, and removes the copy. Until the front end has stored that state, nothing has happened.
 */
export class Changes {
  readonly #known = new Map<string, Change>();
  /** The last change of each name: they follow each other. */
  readonly #names = new Map<string, Promise<unknown>>();
  /** What happens to environments whose change is under way. */
  readonly #events = new Map<string, EnvironmentEvent[]>();
  #subscription: Subscription | undefined;
  #isClosed = false;

  constructor(private readonly parts: ChangesParts) {}

  open(): void {
    const { inbox, subject } = this.parts;
    this.#subscription = inbox.subscribe(subject, (message) => this.take(message), QUEUE);
  }

  /** Takes no more, and resolves when those under way have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#subscription?.unsubscribe();
    await Promise.all([...this.#known.values()].map(({ ended }) => ended));
  }

  /** Ends the changes of a front end, or all. */
  abandon(front?: string): void {
    for (const [token, change] of [...this.#known])
      if (front === undefined || change.front === front) this.#dismiss(token, change.front);
  }

  poll(message: Msg): void {
    const order = this.parts.inbox.open(Poll, message);
    const change = order && this.#known.get(order.token);
    if (change?.front === order?.front && change) this.parts.reply(change.front, order!.token, change.answer);
  }

  dismiss(message: Msg): void {
    const order = this.parts.inbox.open(Dismiss, message);
    if (order) this.#dismiss(order.token, order.front);
  }

  /** Whether it makes or has made something for a front end that has not dismissed it. */
  has(front: string): boolean {
    return [...this.#known.values()].some((change) => change.front === front);
  }

  /** Called for every event of the local environments. */
  note(event: EnvironmentEvent): void {
    this.#events.get(event.environment)?.push(event);
  }

  #dismiss(token: string, front: string): void {
    const change = this.#known.get(token);
    if (change?.front !== front) return;
    this.#known.delete(token);
    change.abort.abort(new PungiError('CANCELLED', 'The change was cancelled.'));
  }

  /** A request to any worker, or to this one. */
  take(message: Msg): void {
    const request = this.parts.inbox.open(ChangeRequest, message);
    if (request === undefined) return;
    const { front, token, v } = request;
    if (this.#known.has(token) || this.#isClosed) return;
    const taken: ChangeAnswer = { kind: 'taken', ...this.parts.key };
    const change: Change = {
      front,
      abort: new AbortController(),
      answer: pack(taken),
      ended: Promise.resolve(),
    };
    this.#known.set(token, change);
    this.parts.onTaken(front);
    const answer = (content: ChangeAnswer) => {
      change.answer = pack(content);
      this.parts.reply(front, token, change.answer);
    };
    if (!isCompatible(v)) {
      answer(failed(new PungiError('CONFIGURATION_ERROR', incompatible(v)), []));
      return;
    }
    answer(taken);
    change.ended = this.#follow(request, change.abort.signal, answer);
  }

  async #follow(
    { operation, from }: ChangeRequest,
    signal: AbortSignal,
    answer: (content: ChangeAnswer) => void,
  ): Promise<void> {
    const events: EnvironmentEvent[] = [];
    const steps: StepOptions = {
      signal,
      onStep: (message, share) =>
        answer({
          kind: 'step',
          message,
          ...(share !== undefined && { share: Math.min(1, Math.max(0, share)) }),
        }),
    };
    try {
      const done =
        'venvName' in operation
          ? await this.#alone(operation.venvName, () => this.#change(operation, from, events, steps))
          : await this.#provide(operation, steps);
      answer({ kind: 'done', ...done, events: events.map(eventOf) });
    } catch (error) {
      answer(failed(error, events));
    }
  }

  /** The generation stays: a run in it follows. */
  async #provide(operation: Exclude<Operation, Named>, steps: StepOptions) {
    const { environments, generations, wheels } = this.parts;
    const local =
      operation.kind === 'inline'
        ? await environments.provideInline(operation, steps)
        : await wheels.use(operation.lock, (options) =>
            environments.provideLocked(operation.lock, { ...steps, ...options }),
          );
    const state = await this.#stateOf(local);
    await generations.hold(state.lock, local);
    return { ...state, report: null };
  }

  async #change(
    operation: Named,
    from: EntryRef | undefined,
    events: EnvironmentEvent[],
    steps: StepOptions,
  ) {
    const { generations, logger } = this.parts;
    const { venvName: name } = operation;
    // One that a killed worker has left.
    await this.#discard(name);
    try {
      if (operation.kind === 'install' || operation.kind === 'uninstall')
        await this.#restore(name, from, steps);
      this.#events.set(name, events);
      const report = await this.#apply(operation, steps);
      this.#events.delete(name);
      const state = await this.#stateOf(name);
      void generations
        .hold(state.lock)
        .catch((error: unknown) => logger.debug('An environment was not kept warm', { reason: `${error}` }));
      return { ...state, report };
    } finally {
      this.#events.delete(name);
      await this.#discard(name);
    }
  }

  async #apply(operation: Named, steps: StepOptions): Promise<PackageReport | null> {
    const { environments } = this.parts;
    const { venvName: name } = operation;
    switch (operation.kind) {
      case 'create':
        return (await environments.create(operation, steps)).report;
      case 'install':
        return environments.install(name, operation.packages, { ...steps, upgrade: operation.upgrade });
      case 'uninstall':
        return environments.uninstall(name, operation.packages, steps);
      case 'import':
        await this.#import(operation, steps);
        return null;
    }
  }

  /** Makes the local copy. Its lock has the packages; what was asked for decides what a later change keeps. */
  async #restore(name: string, from: EntryRef | undefined, steps: StepOptions): Promise<void> {
    const { environments, read } = this.parts;
    if (from === undefined) {
      await environments.create({ venvName: name }, steps);
      return;
    }
    const { lock, metadata } = await read(from);
    const { description, requested, python } = metadata;
    const about = { description, requested, pythonVersion: minorOf(python.version) };
    await this.#import({ venvName: name, lock: renderLockFile(parseLockFile(lock).pins, about) }, steps);
  }

  async #import(request: ImportRequest, steps: StepOptions): Promise<void> {
    const { environments, wheels } = this.parts;
    await wheels.use(request.lock, (options) => environments.import(request, { ...steps, ...options }));
  }

  async #stateOf(name: string) {
    const { environments } = this.parts;
    const metadata = await environments.metadata(name);
    const lock = await environments.lockOf(await environments.resolve(name));
    if (!metadata || !lock) throw new PungiError('INTERNAL_ERROR', `The environment "${name}" has no lock.`);
    return { metadata, lock: lock.text };
  }

  async #discard(name: string): Promise<void> {
    const { environments, logger } = this.parts;
    try {
      await environments.delete({ venvName: name, confirm: true, confirmDefault: true });
    } catch (error) {
      const { code, message } = PungiError.from(error);
      if (code !== 'ENVIRONMENT_NOT_FOUND')
        logger.error('The copy of an environment could not be removed', { name, reason: message });
    }
  }

  /** Names that differ only in case are one folder on some file systems. */
  async #alone<T>(name: string, work: () => Promise<T>): Promise<T> {
    const key = foldName(name);
    const before = this.#names.get(key) ?? Promise.resolve();
    const done = before.catch(() => {}).then(work);
    this.#names.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#names.get(key) === done) this.#names.delete(key);
    }
  }
}

function eventOf(event: EnvironmentEvent): ChangeEvent {
  if (!('requested' in event)) return { action: event.action, details: event.details };
  const { action, requested, added, removed, error } = event;
  return { action, requested, added, removed, error };
}

function failed(thrown: unknown, events: readonly EnvironmentEvent[]): ChangeAnswer {
  const { code, message, details } = PungiError.from(thrown);
  const isGone = thrown instanceof GenerationGone;
  return { kind: 'failed', code, message, details: { ...details }, isGone, events: events.map(eventOf) };
}
