import { type Advice, adviceFor } from '../base/advice.js';
import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { similarName } from '../base/similar-name.js';
import type { StepOptions } from '../contract/environment.js';
import type { Home } from '../engine/home.js';
import { LockKeeper } from '../runtime/lock-keeper.js';
import { SharedHolds } from '../runtime/shared-holds.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { Admission } from './admission.js';
import { foldName } from './name.js';
import type { Note, Recorder } from './recorder.js';
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
  advice?: Advice | undefined;
}

/** Everything that happens to an environment under its lock. */
export class Workshop {
  readonly admission: Admission;
  readonly #advice: Advice;
  readonly #generations: Generations;
  #opened: Promise<{ keeper: LockKeeper; locks: Locks }> | undefined;

  constructor(
    readonly store: Store,
    private readonly engine: EngineSide,
    private readonly recorder: Recorder,
    limits: WorkshopLimits,
    private readonly logger: Logger,
  ) {
    this.#advice = limits.advice ?? adviceFor('library', true);
    const evicted: Note = { action: 'clean', details: { reason: 'made room for the environment of a run' } };
    this.admission = new Admission(store, limits.maxEnvironments, (name) =>
      this.removeUnused(name, evicted, {}),
    );
    this.#generations = new Generations(store, limits.maxEnvironmentMb, async (one, enter) =>
      (await this.#locks()).alone(ADMISSION, {}, () => this.admission.enter(one, enter)),
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
    const release = this.store.isOwn() ? await this.#enter(name, options) : () => {};
    try {
      const metadata = await this.#find(name);
      return { home: this.#homeOf(metadata), metadata, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  async #enter(name: string, options: StepOptions): Promise<() => void> {
    // The environment may have been brought here without what else belongs to its folder.
    await this.store.prepare();
    return (await this.#locks()).use(name, options);
  }

  #homeOf({ name, generation, parent }: Metadata): Home {
    const python = this.store.layout.python(name, generation);
    return { environment: name, generation, python, roots: parent === null ? [] : [parent] };
  }

  async make(
    wanted: NewEnvironment,
    contents: Contents,
    note: Note,
    options: StepOptions,
  ): Promise<Metadata> {
    await this.store.prepare();
    return (await this.#locks()).alone(wanted.name, options, async (signal) => {
      await this.admission.makeRoom(wanted, options);
      const metadata = await this.#generations.make(wanted, contents, { ...options, signal });
      this.engine.retire(wanted.name);
      await this.recorder.changed(note, metadata, options);
      return metadata;
    });
  }

  /** Puts a new generation of an environment in force, with the contents that are decided on while nobody else changes it. */
  async change<T>(
    name: string,
    options: StepOptions,
    decide: (current: Metadata, venv: string, signal: AbortSignal) => Promise<Contents>,
    /** Before anybody else can change it again. */
    conclude: (before: Metadata, after: Metadata) => Promise<T>,
  ): Promise<T> {
    return this.#alone(name, options, async (before, signal) => {
      const contents = await decide(before, this.store.layout.venv(name, before.generation), signal);
      const after = await this.#generations.change(before, contents, { ...options, signal });
      if (after.generation !== before.generation) this.engine.retire(name);
      return conclude(before, after);
    });
  }

  /** Sees to it that the environment shows the packages of its interpreter, or hides them. */
  async showInterpreter(name: string, inherit: boolean, options: StepOptions): Promise<void> {
    await this.#alone(name, options, async (current, signal) => {
      if (current.inherit === inherit) return;
      await this.#generations.showInterpreter(current, inherit, { ...options, signal });
      this.engine.retire(name);
      this.logger.info('An environment follows SYSTEM_PACKAGES', { venvName: name, systemPackages: inherit });
    });
  }

  async describe(name: string, description: string, note: Note, options: StepOptions): Promise<void> {
    await this.#alone(name, options, async (current) =>
      this.recorder.changed(note, await this.#generations.describe(current, { description }), options),
    );
  }

  async copy(
    source: string,
    { name, description }: { name: string; description: string | undefined },
    note: Note,
    options: StepOptions,
  ): Promise<void> {
    // Both would be the same lock, and whoever holds one must not wait for it again.
    if (foldName(source) === foldName(name)) {
      throw new PungiError('ENVIRONMENT_EXISTS', 'A clone needs a name of its own.', { venvName: name });
    }
    await this.store.prepare();
    const locks = await this.#locks();
    const copy = async (original: Metadata, signal: AbortSignal) => {
      await this.admission.makeRoom({ name, interpreter: original.python }, options);
      const about = { name, description: description ?? original.description };
      const made = await this.#generations.clone(original, about, { ...options, signal });
      await this.recorder.changed(note, made, options);
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

  async remove(name: string, note: Note, options: ExclusiveOptions): Promise<void> {
    if (!this.store.isThere(name)) throw await this.notFound(name);
    await (await this.#locks()).alone(name, options, async () => {
      if (!this.store.isThere(name)) throw await this.notFound(name);
      const lock = await this.recorder.lockOf(await this.store.find(name).catch(() => undefined));
      await this.store.sweep(name);
      await this.store.discard(this.store.layout.folder(name));
      this.engine.retire(name);
      await this.recorder.noted(note, name, lock, options);
    });
  }

  /** Whether it could be removed: what is in use stays. */
  async removeUnused(name: string, note: Note, options: StepOptions): Promise<boolean> {
    try {
      await this.remove(name, note, { ...options, wait: false });
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
    const advice = meant === undefined ? this.#advice.createEnvironment(name) : `Did you mean "${meant}"?`;
    return new PungiError('ENVIRONMENT_NOT_FOUND', `There is no environment "${name}". ${advice}`, {
      venvName: name,
    });
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.keeper.close();
    await this.store.settled();
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
