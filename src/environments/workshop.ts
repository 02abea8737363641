import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { StepOptions } from '../contract/environment.js';
import type { Home } from '../engine/home.js';
import { LockKeeper } from '../runtime/lock-keeper.js';
import { SharedHolds } from '../runtime/shared-holds.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { foldName } from './name.js';
import { similarName } from './similar-name.js';
import { type Contents, Generations, type NewEnvironment } from './store/generations.js';
import { type ExclusiveOptions, Locks } from './store/locks.js';
import type { Metadata } from './store/metadata.js';
import type { Store } from './store/store.js';

/** What environments need of the engine. */
export interface EngineSide {
  interpreter(): Promise<Interpreter>;
  isWarm(name: string): boolean;
  /** No worker of what the environment was before may get another run. */
  retire(name: string): void;
}

export interface WorkshopLimits {
  maxEnvironments: number;
  maxEnvironmentMb: number;
}

/** Everything that happens to an environment under its lock. */
export class Workshop {
  readonly #generations: Generations;
  #opened: Promise<{ keeper: LockKeeper; locks: Locks }> | undefined;

  constructor(
    readonly store: Store,
    private readonly engine: EngineSide,
    private readonly limits: WorkshopLimits,
    private readonly logger: Logger,
  ) {
    this.#generations = new Generations(store, limits.maxEnvironmentMb, (one, enter) =>
      this.#admit(one, enter),
    );
  }

  /** Nothing of the environment changes until it is released. */
  async use(
    name: string,
    options: StepOptions,
  ): Promise<{ home: Home; metadata: Metadata; release: () => void }> {
    // Before anything of the folder is opened: it may be somebody else's.
    await this.#find(name);
    // What another user provides can be read, not locked: its owner changes it when nobody runs in it.
    const release = this.store.isOwn() ? await (await this.#locks()).use(name, options) : () => {};
    try {
      const metadata = await this.#find(name);
      this.store.touch(name);
      return { home: this.#homeOf(metadata), metadata, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #homeOf({ name, generation, parent }: Metadata): Home {
    const python = this.store.layout.python(name, generation);
    return { environment: name, generation, python, roots: parent === null ? [] : [parent] };
  }

  /** Before any work is done for it; what is true then is looked at again under the lock. */
  async refuseEarly(name: string, interpreter: Interpreter): Promise<void> {
    const existing = await this.store.find(name).catch(() => undefined);
    if (existing) throw alreadyThere(existing, interpreter);
    await this.#checkCount();
  }

  async make(wanted: NewEnvironment, contents: Contents, options: StepOptions): Promise<Metadata> {
    await this.store.prepare();
    return (await this.#locks()).alone(wanted.name, options, async (signal) => {
      await this.#makeRoom(wanted, options);
      const metadata = await this.#generations.make(wanted, contents, { ...options, signal });
      this.engine.retire(wanted.name);
      this.logger.info('An environment was created', {
        venvName: wanted.name,
        python: metadata.python.version,
      });
      return metadata;
    });
  }

  /** Puts a new generation of an environment in force, with the contents that are decided on while nobody else changes it. */
  async change(
    name: string,
    options: StepOptions,
    decide: (current: Metadata, venv: string, signal: AbortSignal) => Promise<Contents>,
  ): Promise<{ before: Metadata; after: Metadata }> {
    return this.#alone(name, options, async (before, signal) => {
      const contents = await decide(before, this.store.layout.venv(name, before.generation), signal);
      const after = await this.#generations.change(before, contents, { ...options, signal });
      if (after.generation !== before.generation) this.engine.retire(name);
      return { before, after };
    });
  }

  async describe(name: string, description: string, options: StepOptions): Promise<void> {
    await this.#alone(name, options, (current) => this.#generations.describe(current, { description }));
  }

  async copy(
    source: string,
    { name, description }: { name: string; description: string | undefined },
    options: StepOptions,
  ): Promise<void> {
    // Both would be the same lock, and whoever holds one must not wait for it again.
    if (foldName(source) === foldName(name)) {
      throw new PungiError('ENVIRONMENT_EXISTS', 'A clone needs a name of its own.', { venvName: name });
    }
    await this.store.prepare();
    const locks = await this.#locks();
    const copy = async (original: Metadata, signal: AbortSignal) => {
      await this.#makeRoom({ name, interpreter: original.python }, options);
      const about = { name, description: description ?? original.description };
      await this.#generations.clone(original, about, { ...options, signal });
    };
    const whileUsed = async (act: (original: Metadata) => Promise<void>) => {
      const { metadata, release } = await this.use(source, options);
      await act(metadata).finally(release);
    };
    // Always the same of two locks first, or two clones in opposite directions would wait for each other.
    await (foldName(source) < foldName(name)
      ? whileUsed((original) => locks.alone(name, options, (signal) => copy(original, signal)))
      : locks.alone(name, options, (signal) => whileUsed((original) => copy(original, signal))));
  }

  async remove(name: string, options: ExclusiveOptions): Promise<void> {
    if (!this.store.isThere(name)) throw await this.notFound(name);
    await (await this.#locks()).alone(name, options, async () => {
      if (!this.store.isThere(name)) throw await this.notFound(name);
      await this.store.sweep(name);
      await this.store.discard(this.store.layout.folder(name));
      this.engine.retire(name);
      this.logger.info('An environment was deleted', { venvName: name });
    });
  }

  /** Whether it could be removed: what is in use stays. */
  async removeUnused(name: string, options: StepOptions): Promise<boolean> {
    try {
      await this.remove(name, { ...options, wait: false });
      return true;
    } catch (error) {
      const isGone = error instanceof PungiError && error.code === 'ENVIRONMENT_NOT_FOUND';
      if (isGone || isInUse(error)) return false;
      throw error;
    }
  }

  /** What was being made when its process was killed. What is being made now is locked, and left alone. */
  async sweepUnfinished(options: StepOptions): Promise<void> {
    const locks = await this.#locks();
    for (const name of await this.store.unfinished()) {
      const sweep = locks.alone(name, { ...options, wait: false }, () => this.store.sweep(name));
      await sweep.catch((error: unknown) => {
        if (!isInUse(error)) throw error;
      });
    }
  }

  async notFound(name: string): Promise<PungiError> {
    const meant = similarName(name, await this.store.names());
    const advice =
      meant === undefined
        ? `Create it with create_venv, or with: pungi env create ${name}`
        : `Did you mean "${meant}"?`;
    return new PungiError('ENVIRONMENT_NOT_FOUND', `There is no environment "${name}". ${advice}`, {
      venvName: name,
    });
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.keeper.close();
    await this.store.settled();
  }

  /** The name is free, or what has it is damaged and goes. */
  async #makeRoom(
    { name, interpreter }: Pick<NewEnvironment, 'name' | 'interpreter'>,
    { onStep }: StepOptions,
  ): Promise<void> {
    const clash = await this.store.clash(name);
    if (clash !== undefined) {
      const sentence = `The name "${name}" differs from the environment "${clash}" in case only; choose another.`;
      throw new PungiError('ENVIRONMENT_EXISTS', sentence, { venvName: name });
    }
    if (this.store.isForeign(name)) {
      const sentence = `The folder ${this.store.layout.folder(name)} is there already and is not an environment; choose another name.`;
      throw new PungiError('ENVIRONMENT_EXISTS', sentence, { venvName: name });
    }
    const existing = await this.store.find(name).catch(async (error: unknown) => {
      if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_DAMAGED') throw error;
      onStep?.(`The environment "${name}" is damaged: making it anew.`);
      await this.store.discard(this.store.layout.folder(name));
      return undefined;
    });
    if (existing) throw alreadyThere(existing, interpreter);
    await this.store.sweep(name);
  }

  /** One at a time, or all of them would see room for one more. */
  async #admit({ inline }: Metadata, enter: () => Promise<void>): Promise<void> {
    await (await this.#locks()).alone(ADMISSION, {}, async () => {
      // Environments of scripts come by themselves, so they also go by themselves: the one unused for longest first.
      if (inline && (await this.#isFull())) await this.#evict();
      await this.#checkCount();
      await enter();
    });
  }

  async #evict(): Promise<void> {
    const found: { name: string; used: number }[] = [];
    for (const name of await this.store.names()) {
      const metadata = await this.store.find(name).catch(() => undefined);
      const used = (await this.store.lastUsed(name)) ?? new Date(metadata?.created ?? 0);
      if (metadata?.inline) found.push({ name, used: used.getTime() });
    }
    for (const { name } of found.sort((a, b) => a.used - b.used))
      if (await this.removeUnused(name, {})) return;
  }

  async #isFull(): Promise<boolean> {
    return (await this.store.names()).length >= this.limits.maxEnvironments;
  }

  async #checkCount(): Promise<void> {
    if (!(await this.#isFull())) return;
    const { maxEnvironments } = this.limits;
    throw new PungiError(
      'DENIED',
      `No more than ${maxEnvironments} environments are allowed (MAX_ENVIRONMENTS), those of scripts included: delete one.`,
    );
  }

  async #alone<T>(
    name: string,
    options: StepOptions,
    act: (current: Metadata, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!this.store.isThere(name)) throw await this.notFound(name);
    await this.store.prepare();
    return (await this.#locks()).alone(name, options, async (signal) => {
      const current = await this.#find(name);
      await this.store.sweep(name);
      return act(current, signal);
    });
  }

  async #find(name: string): Promise<Metadata> {
    const metadata = await this.store.find(name);
    if (!metadata) throw await this.notFound(name);
    return metadata;
  }

  async #locks(): Promise<Locks> {
    this.#opened ??= this.engine.interpreter().then(({ path }) => {
      const keeper = new LockKeeper(path, this.logger);
      return { keeper, locks: new Locks(this.store.layout, keeper, new SharedHolds(keeper)) };
    });
    return (await this.#opened).locks;
  }
}

/** No name of an environment starts with a dot. */
const ADMISSION = '.admission';

const isInUse = (error: unknown) => error instanceof PungiError && error.code === 'ENVIRONMENT_IN_USE';

function alreadyThere({ name, python }: Metadata, wanted: Interpreter): PungiError {
  const other = python.version === wanted.version ? '' : `, with Python ${python.version}`;
  return new PungiError('ENVIRONMENT_EXISTS', `The environment "${name}" exists already${other}.`, {
    venvName: name,
    pythonVersion: python.version,
  });
}
