import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import type { StepOptions } from '../contract/environment.js';
import type { Home } from '../engine/home.js';
import { LockKeeper } from '../runtime/lock-keeper.js';
import { SharedHolds } from '../runtime/shared-holds.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { foldName } from './name.js';
import { type Contents, Generations, type NewEnvironment } from './store/generations.js';
import { type ExclusiveOptions, Locks } from './store/locks.js';
import { type Metadata, writeMetadata } from './store/metadata.js';
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
    this.#generations = new Generations(store, limits.maxEnvironmentMb);
  }

  /** Nothing of the environment changes until it is released. */
  async use(
    name: string,
    options: StepOptions,
  ): Promise<{ home: Home; metadata: Metadata; release: () => void }> {
    if (!this.store.isThere(name)) throw notFound(name);
    const release = await (await this.#locks()).use(name, options);
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
  async refuseExisting(name: string, interpreter: Interpreter): Promise<void> {
    const existing = await this.store.find(name).catch(() => undefined);
    if (existing) throw alreadyThere(existing, interpreter);
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
      this.engine.retire(name);
      return { before, after };
    });
  }

  async describe(name: string, description: string, options: StepOptions): Promise<void> {
    await this.#alone(name, options, (current) =>
      writeMetadata(this.store.layout.folder(name), { ...current, description }),
    );
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
    await (source < name
      ? whileUsed((original) => locks.alone(name, options, (signal) => copy(original, signal)))
      : locks.alone(name, options, (signal) => whileUsed((original) => copy(original, signal))));
  }

  async remove(name: string, options: ExclusiveOptions): Promise<void> {
    if (!this.store.isThere(name)) throw notFound(name);
    await (await this.#locks()).alone(name, options, async () => {
      if (!this.store.isThere(name)) throw notFound(name);
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
      if (error instanceof PungiError && error.code === 'ENVIRONMENT_IN_USE') return false;
      throw error;
    }
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
    const existing = await this.store.find(name).catch(async () => {
      onStep?.(`The environment "${name}" is damaged: making it anew.`);
      await this.store.discard(this.store.layout.folder(name));
      return undefined;
    });
    if (existing) throw alreadyThere(existing, interpreter);
    await this.#checkCount();
    await this.store.sweep(name);
  }

  async #checkCount(): Promise<void> {
    const { length } = await this.store.names();
    if (length < this.limits.maxEnvironments) return;
    throw new PungiError(
      'DENIED',
      `There are ${length} environments, and no more than ${this.limits.maxEnvironments} are allowed (MAX_ENVIRONMENTS): delete one.`,
    );
  }

  async #alone<T>(
    name: string,
    options: StepOptions,
    act: (current: Metadata, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!this.store.isThere(name)) throw notFound(name);
    await this.store.prepare();
    return (await this.#locks()).alone(name, options, async (signal) => {
      const current = await this.#find(name);
      await this.store.sweep(name);
      return act(current, signal);
    });
  }

  async #find(name: string): Promise<Metadata> {
    const metadata = await this.store.find(name);
    if (!metadata) throw notFound(name);
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

export function notFound(name: string): PungiError {
  return new PungiError(
    'ENVIRONMENT_NOT_FOUND',
    `There is no environment "${name}". Create it with create_venv, or with: pungi env create ${name}`,
    { venvName: name },
  );
}

function alreadyThere({ name, python }: Metadata, wanted: Interpreter): PungiError {
  const other = python.version === wanted.version ? '' : `, with Python ${python.version}`;
  return new PungiError('ENVIRONMENT_EXISTS', `The environment "${name}" exists already${other}.`, {
    venvName: name,
    pythonVersion: python.version,
  });
}
