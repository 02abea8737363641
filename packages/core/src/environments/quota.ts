import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import type { Metadata } from './store/metadata.js';
import type { Store } from './store/store.js';

/** Decides whether another environment may be created, and under which name. */
export class Quota {
  constructor(
    private readonly store: Store,
    private readonly maxEnvironments: number,
    private readonly room: {
      /** Returns whether it could be removed to make room. */
      removeUnused(name: string): Promise<boolean>;
      /** Removes everything of this name, except files that runs still use. */
      clear(name: string): Promise<unknown>;
    },
  ) {}

  /** Checked before any work; checked again under the lock. */
  async refuseEarly(name: string, interpreter: Interpreter): Promise<void> {
    const existing = await this.store.find(name).catch(() => undefined);
    if (existing) throw alreadyThere(existing, interpreter);
    await this.#checkCount();
  }

  /**
   * Ensures that the name is free; a damaged environment of this name is removed. Requires the environment's change
   * lock.
   */
  async makeRoom(
    { name, interpreter }: { name: string; interpreter: Interpreter },
    { onStep }: StepOptions,
  ): Promise<void> {
    const clash = await this.store.clash(name);
    if (clash !== undefined) throw differsInCase(name, clash);
    if (this.store.isForeign(name)) {
      const sentence = `The folder ${this.store.layout.folder(name)} is there already and is not an environment; choose another name.`;
      throw new PungiError('ENVIRONMENT_EXISTS', sentence, { venvName: name });
    }
    const existing = await this.store.find(name).catch(async (error: unknown) => {
      if (!(error instanceof PungiError) || error.code !== 'ENVIRONMENT_DAMAGED') throw error;
      onStep?.(`The environment "${name}" is damaged: making it anew.`);
      return undefined;
    });
    if (existing) throw alreadyThere(existing, interpreter);
    await this.room.clear(name);
  }

  /** One at a time, so that two processes do not both see room for one more. */
  async enter({ inline }: Metadata, enter: () => Promise<void>): Promise<void> {
    // Environments of scripts are created automatically, so they are also removed automatically: the least recently
    // used first.
    if (inline && (await this.#isFull())) await this.#evict();
    await this.#checkCount();
    await enter();
  }

  async #evict(): Promise<void> {
    const found: { name: string; used: number }[] = [];
    for (const name of await this.store.names()) {
      const metadata = await this.store.find(name).catch(() => undefined);
      const used = (await this.store.lastUsed(name)) ?? new Date(metadata?.created ?? 0);
      if (metadata?.inline) found.push({ name, used: used.getTime() });
    }
    for (const { name } of found.sort((a, b) => a.used - b.used))
      if (await this.room.removeUnused(name)) return;
  }

  async #isFull(): Promise<boolean> {
    return (await this.store.names()).length >= this.maxEnvironments;
  }

  async #checkCount(): Promise<void> {
    if (!(await this.#isFull())) return;
    throw tooMany(this.maxEnvironments);
  }
}

export const tooMany = (maxEnvironments: number): PungiError =>
  new PungiError(
    'DENIED',
    `No more than ${maxEnvironments} environments are allowed (MAX_ENVIRONMENTS), those of scripts included: delete one.`,
  );

export const differsInCase = (name: string, clash: string): PungiError => {
  const sentence = `The name "${name}" differs from the environment "${clash}" in case only; choose another.`;
  return new PungiError('ENVIRONMENT_EXISTS', sentence, { venvName: name });
};

/** `wanted`: the interpreter for the new one, if it is known. */
export function alreadyThere({ name, python }: Metadata, wanted?: Interpreter): PungiError {
  const isSame = wanted === undefined || python.version === wanted.version;
  const other = isSame ? '' : `, with Python ${python.version}`;
  return new PungiError('ENVIRONMENT_EXISTS', `The environment "${name}" exists already${other}.`, {
    venvName: name,
    pythonVersion: python.version,
  });
}
