import { type Logger, PungiError } from '@pungi/core/base';
import type { EnvironmentRef } from '@pungi/core/engine';
import { GenerationGone } from '@pungi/core/engine';
import type { LocalEnvironments } from '@pungi/core/environments';
import { type Entry, type EntryRef, generationOf } from '../protocol/environments.js';
import type { Wheels } from './wheels.js';

export interface GenerationsParts {
  environments: LocalEnvironments;
  wheels: Wheels;
  read: (ref: EntryRef) => Promise<Entry>;
  /** All of them together. The one that is needed stays, however large it is. */
  mostMb: number;
  /** Called when one was built, removed or used for the first time. */
  onChange: () => void;
  onBuilt: (ref: EntryRef) => void;
  logger: Logger;
}

interface Held {
  /** The local environment with its content. */
  local: string;
  sizeMb: number;
}

/** What could not be built is not tried again so soon: the offer may find another worker. */
const FAILED_MS = 5000;

/**
 * The generations that a worker has built from their lock files: environments that never change, known by the hash of their lock.
 * Those that were not used for the longest time make room for others.
 */
export class Generations {
  /** The one that was used last is last. */
  readonly #held = new Map<string, Held>();
  readonly #building = new Map<string, Promise<void>>();
  readonly #removing = new Map<string, Promise<void>>();
  /** Builds that have just failed. */
  readonly #failed = new Map<string, { error: unknown; until: number }>();

  constructor(private readonly parts: GenerationsParts) {}

  get all(): string[] {
    return [...this.#held.keys()];
  }

  has(generation: string): boolean {
    return this.#held.has(generation);
  }

  /** Finds what an earlier start has built. */
  async load(): Promise<void> {
    const { environments, onChange } = this.parts;
    const found = (await environments.list()).filter(({ isInline, state }) => isInline && state === 'ready');
    found.sort((one, other) => ((one.lastUsed ?? '') < (other.lastUsed ?? '') ? -1 : 1));
    for (const { venvName, sizeMb } of found) {
      const lock = await environments.lockOf(await environments.resolve(venvName)).catch(() => null);
      if (lock) this.#held.set(generationOf(lock.text), { local: venvName, sizeMb });
    }
    onChange();
  }

  /** Returns the local environment of a generation, which is built if it is not there. Throws GenerationGone. */
  async ref(wanted: EntryRef): Promise<EnvironmentRef> {
    for (let isSecond = false; ; isSecond = true) {
      if (!this.has(wanted.generation)) await this.#buildOnce(wanted);
      const held = this.#held.get(wanted.generation)!;
      try {
        const ref = await this.parts.environments.resolve(held.local);
        if (ref === undefined) throw new GenerationGone(held.local);
        this.#use(wanted.generation, held);
        this.parts.environments.noteUse(ref);
        return ref;
      } catch (error) {
        // Somebody has removed its folder.
        this.#forget(wanted.generation);
        if (isSecond) throw error;
      }
    }
  }

  /** Builds the generation of a lock whose text is known. */
  async hold(lock: string, local?: string): Promise<void> {
    const generation = generationOf(lock);
    if (this.has(generation)) return;
    await this.#once(generation, () => this.#build(generation, lock, local));
  }

  async #buildOnce(wanted: EntryRef): Promise<void> {
    const { generation } = wanted;
    const failed = this.#failed.get(generation);
    if (failed && failed.until > performance.now()) throw failed.error;
    this.#failed.delete(generation);
    await this.#once(generation, async () => {
      const { lock } = await this.parts.read(wanted);
      await this.#build(generation, lock).catch((error: unknown) => {
        this.#failed.set(generation, { error, until: performance.now() + FAILED_MS });
        throw error;
      });
      this.parts.onBuilt(wanted);
    });
  }

  /** Runs that need the same one share the work. */
  async #once(generation: string, build: () => Promise<void>): Promise<void> {
    await this.#removing.get(generation);
    if (this.has(generation)) return;
    const building =
      this.#building.get(generation) ?? build().finally(() => this.#building.delete(generation));
    this.#building.set(generation, building);
    await building;
  }

  async #build(generation: string, lock: string, known?: string): Promise<void> {
    const { environments, onChange, wheels } = this.parts;
    const local = known ?? (await wheels.use(lock, (options) => environments.provideLocked(lock, options)));
    const { sizeMb } = await environments.show(local);
    this.#held.set(generation, { local, sizeMb });
    await this.#makeRoom(generation);
    onChange();
  }

  /** Removes those that were not used for the longest time, except those that runs use. */
  async #makeRoom(needed: string): Promise<void> {
    for (const [generation, held] of [...this.#held]) {
      const total = [...this.#held.values()].reduce((sum, { sizeMb }) => sum + sizeMb, 0);
      if (total <= this.parts.mostMb) return;
      if (generation === needed || !this.has(generation)) continue;
      this.#forget(generation);
      const removal = this.#remove(generation, held).finally(() => this.#removing.delete(generation));
      this.#removing.set(generation, removal);
      await removal;
    }
  }

  async #remove(generation: string, held: Held): Promise<void> {
    const { environments, logger } = this.parts;
    const { local, sizeMb } = held;
    try {
      await environments.delete({ venvName: local, confirm: true });
      logger.info('An environment made room for another', { generation, sizeMb });
    } catch (error) {
      const { code, message } = PungiError.from(error);
      if (code === 'ENVIRONMENT_IN_USE') this.#held.set(generation, held);
      else logger.error('An environment could not be removed', { generation, reason: message });
    }
  }

  #use(generation: string, held: Held): void {
    this.#held.delete(generation);
    this.#held.set(generation, held);
  }

  #forget(generation: string): void {
    if (this.#held.delete(generation)) this.parts.onChange();
  }
}
