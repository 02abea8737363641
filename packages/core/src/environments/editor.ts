import { type Advice, adviceFor } from '../base/advice.js';
import { PungiError } from '../base/errors.js';
import { similarName } from '../base/issue-text.js';
import type { Logger } from '../base/logger.js';
import type { StepOptions } from '../contract/environment.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import type { FileLock } from '../runtime/file-lock.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { Quota } from './quota.js';
import type { Note, Recorder } from './recorder.js';
import { type Contents, Generations, type NewEnvironment } from './store/generations.js';
import { foldName } from './store/layout.js';
import { during, type ExclusiveOptions, Locks } from './store/locks.js';
import type { Metadata } from './store/metadata.js';
import { damaged, type Store } from './store/store.js';

/** What environments need from the engine. */
export interface EngineSide {
  interpreter(): Promise<Interpreter>;
  isWarm(name: string): boolean;
  /** Workers of outdated generations get no further run. Resolves when all of them have ended. */
  retire(name: string, inForce: string | null): Promise<void>;
}

interface EditorOptions {
  maxEnvironments: number;
  maxEnvironmentMb: number;
  advice?: Advice | undefined;
}

/**
 * Creates, changes and removes environments, each change under the environment's lock. Generations are immutable: a
 * change adds one, and outdated ones are removed when nobody has a lease on them.
 */
export class EnvironmentEditor {
  readonly quota: Quota;
  readonly #advice: Advice;
  readonly #generations: Generations;
  readonly #locks: Locks;
  /** Removals of generations that wait for their last run. */
  readonly #collections = new Set<Promise<void>>();

  constructor(
    readonly store: Store,
    private readonly engine: EngineSide,
    private readonly recorder: Recorder,
    options: EditorOptions,
    private readonly logger: Logger,
    closing: AbortSignal,
  ) {
    this.#advice = options.advice ?? adviceFor('library', true);
    this.#locks = new Locks(store.layout, async () => (await engine.interpreter()).path, closing);
    const evicted: Note = { action: 'clean', details: { reason: 'made room for the environment of a run' } };
    this.quota = new Quota(store, options.maxEnvironments, {
      removeUnused: (name) => this.removeUnused(name, evicted, {}),
      clear: (name) => this.#clear(name),
    });
    this.#generations = new Generations(store, options.maxEnvironmentMb, (one, enter) =>
      this.#locks.adding(() => this.quota.enter(one, enter)),
    );
  }

  /** Returns the current metadata. Throws ENVIRONMENT_NOT_FOUND if there is no such environment. */
  async find(name: string): Promise<Metadata> {
    const metadata = await this.store.find(name);
    if (!metadata) throw await this.notFound(name);
    return metadata;
  }

  /** Returns the current generation for runs. They need no lock: the fork server holds a lease. */
  async resolve(name: string): Promise<{ ref: EnvironmentRef; metadata: Metadata }> {
    const metadata = await this.find(name);
    const { layout } = this.store;
    const { generation, parent } = metadata;
    // The environment may have been copied here without the other files of its folder.
    if (this.store.isOwn()) await this.store.prepare();
    const ref = {
      environment: name,
      generation,
      python: layout.python(name, generation),
      roots: parent === null ? [] : [parent],
      lease: { generation: layout.lockFile(name, generation), runs: layout.runsLock(name) },
    };
    return { ref, metadata };
  }

  /** Reads an environment whose files are kept until `read` has ended. */
  async reading<T>(
    name: string,
    options: StepOptions,
    read: (metadata: Metadata, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    let metadata = await this.find(name);
    for (;;) {
      const lease = await this.#locks.lease(name, metadata.generation, options);
      if (lease) return during(lease, options.signal, (signal) => read(metadata, signal));
      const { generation } = metadata;
      metadata = await this.find(name);
      if (metadata.generation === generation) throw damaged(name);
    }
  }

  async make(
    wanted: NewEnvironment,
    contents: Contents,
    note: Note,
    options: StepOptions,
  ): Promise<Metadata> {
    await this.store.prepare();
    return this.#locks.changing(wanted.name, options, async (signal) => {
      await this.quota.makeRoom(wanted, options);
      const metadata = await this.#generations.make(wanted, contents, { ...options, signal });
      await this.#retire(wanted.name, metadata.generation);
      await this.recorder.changed(note, metadata, options);
      return metadata;
    });
  }

  /** Activates a new generation of an environment. Its contents are decided under the environment's lock. */
  async change<T>(
    name: string,
    options: StepOptions,
    decide: (current: Metadata, venv: string, signal: AbortSignal) => Promise<Contents>,
    /** Called before the lock is released. */
    conclude: (before: Metadata, after: Metadata) => Promise<T>,
  ): Promise<T> {
    return this.#changing(name, options, async (before, signal) => {
      const contents = await decide(before, this.store.layout.venv(name, before.generation), signal);
      const after = await this.#generations.change(before, contents, { ...options, signal });
      if (after.generation !== before.generation) await this.#retire(name, after.generation);
      return conclude(before, after);
    });
  }

  /** Makes the environment show or hide its interpreter's packages. */
  async showInterpreter(name: string, inherit: boolean, options: StepOptions): Promise<void> {
    await this.#changing(name, options, async (current, signal) => {
      if (current.inherit === inherit) return;
      const { generation } = await this.#generations.showInterpreter(current, inherit, {
        ...options,
        signal,
      });
      await this.#retire(name, generation);
      this.logger.info('An environment follows SYSTEM_PACKAGES', { venvName: name, systemPackages: inherit });
    });
  }

  async describe(name: string, description: string, note: Note, options: StepOptions): Promise<void> {
    await this.#changing(name, options, async (current) =>
      this.recorder.changed(note, await this.#generations.describe(current, { description }), options),
    );
  }

  async copy(
    source: string,
    { name, description }: { name: string; description: string | undefined },
    note: Note,
    options: StepOptions,
  ): Promise<void> {
    if (foldName(source) === foldName(name)) {
      throw new PungiError('ENVIRONMENT_EXISTS', 'A clone needs a name of its own.', { venvName: name });
    }
    await this.store.prepare();
    await this.reading(source, options, (original, reading) =>
      this.#locks.changing(name, { ...options, signal: reading }, async (signal) => {
        await this.quota.makeRoom({ name, interpreter: original.python }, options);
        const about = { name, description: description ?? original.description };
        const made = await this.#generations.clone(original, about, { ...options, signal });
        await this.recorder.changed(note, made, options);
      }),
    );
  }

  /** Runs that start meanwhile keep their files until they end. */
  async remove(name: string, note: Note, options: ExclusiveOptions): Promise<void> {
    if (!this.store.isThere(name)) throw await this.notFound(name);
    await this.store.prepare();
    await this.#locks.changing(name, options, async () => {
      if (!this.store.isThere(name)) throw await this.notFound(name);
      await this.#locks.noRuns(name, options);
      const lock = await this.recorder.lockOf(await this.store.find(name).catch(() => undefined));
      await this.#clear(name);
      await this.#retire(name, null);
      await this.recorder.noted(note, name, lock, options);
    });
  }

  /** Returns whether it could be removed: an environment in use stays. */
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

  /** Removes unused generations, and leftovers of killed processes. */
  async collect(): Promise<void> {
    if (!this.store.isUsed() || !this.store.isOwn()) return;
    for (const name of await this.store.untidy()) await this.#collect(name);
  }

  async notFound(name: string): Promise<PungiError> {
    return notFound(name, await this.store.names(), this.#advice);
  }

  async close(): Promise<void> {
    await Promise.all(this.#collections);
    await this.store.settled();
  }

  async #changing<T>(
    name: string,
    options: StepOptions,
    act: (current: Metadata, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (!this.store.isThere(name)) throw await this.notFound(name);
    await this.store.prepare();
    return this.#locks.changing(name, options, async (signal) => {
      const current = await this.find(name);
      await this.#sweep(name);
      return act(current, signal);
    });
  }

  /**
   * Ends the workers of the previous generation. Its files are removed at once, or with the last run that uses them.
   */
  async #retire(name: string, inForce: string | null): Promise<void> {
    const retired = this.engine.retire(name, inForce);
    // A failed removal does not fail the change, which is complete.
    if (await this.#sweep(name).catch(() => false)) return;
    const collection = retired
      .then(() => this.#collect(name))
      .catch((error: unknown) =>
        this.logger.debug('A generation stays', { venvName: name, reason: `${error}` }),
      )
      .finally(() => this.#collections.delete(collection));
    this.#collections.add(collection);
  }

  /** Skips an environment that is being changed: that change does the same. */
  async #collect(name: string): Promise<void> {
    try {
      await this.#locks.changing(name, { wait: false }, () => this.#sweep(name));
    } catch (error) {
      if (!isInUse(error)) throw error;
    }
  }

  /** Removes all generations except the current one and leased ones. Returns whether none is leased. */
  async #sweep(name: string): Promise<boolean> {
    if (!this.store.isThere(name)) return this.#clear(name);
    const current = await this.store.find(name).catch(() => undefined);
    if (current === undefined) return true;
    return this.#claiming(name, current.generation, (held) =>
      this.store.sweep(name, [current.generation, ...held]),
    );
  }

  /** Removes an environment with all generations except leased ones. Returns whether none is leased. */
  async #clear(name: string): Promise<boolean> {
    if (this.store.isForeign(name)) return true;
    return this.#claiming(name, undefined, (held) => this.store.remove(name, held));
  }

  /** Nobody can get a lease on a generation that is being removed. */
  async #claiming(
    name: string,
    current: string | undefined,
    act: (held: string[]) => Promise<void>,
  ): Promise<boolean> {
    const held: string[] = [];
    const claims: FileLock[] = [];
    try {
      for (const generation of await this.store.generations(name)) {
        if (generation === current) continue;
        const claim = await this.#locks.claim(name, generation);
        if (claim === 'busy') held.push(generation);
        else if (claim !== 'gone') claims.push(claim);
      }
      await act(held);
    } finally {
      await Promise.all(claims.map((claim) => claim.release()));
    }
    return held.length === 0;
  }
}

const isInUse = (error: unknown) => error instanceof PungiError && error.code === 'ENVIRONMENT_IN_USE';

/** `names`: of the environments that there are. */
export function notFound(
  name: string,
  names: readonly string[],
  advice: Advice = adviceFor('library', true),
): PungiError {
  const meant = similarName(name, names);
  const then = meant === undefined ? advice.createEnvironment(name) : `Did you mean "${meant}"?`;
  return new PungiError('ENVIRONMENT_NOT_FOUND', `There is no environment "${name}". ${then}`, {
    venvName: name,
  });
}
