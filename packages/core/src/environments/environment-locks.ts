import { readFile } from 'node:fs/promises';
import { sha256 } from '../base/sha256.js';
import type { EnvironmentLock } from '../contract/audit.js';
import type { EnvironmentRef } from '../engine/environment-ref.js';
import { GenerationGone } from '../runtime/fork-server.js';
import { minorOf, parseLockFile, renderLockFile } from './lock-file.js';
import type { Metadata } from './store/metadata.js';
import { damaged, type Store } from './store/store.js';

interface Remembered {
  generation: string;
  lock: Promise<EnvironmentLock | null>;
}

/**
 * The lock files of environments, as text and hash. They contain only what code can observe, so a description does
 * not change them, and a clone has the same. The newest of each environment is cached.
 */
export class EnvironmentLocks {
  #remembered = new Map<string, Remembered>();

  constructor(private readonly store: Store) {}

  /**
   * Returns the lock of a run's environment. Null for the plain interpreter, or for a private environment of another
   * user. Throws GenerationGone if the environment was changed since.
   */
  async of(
    ref: Pick<EnvironmentRef, 'environment' | 'generation'> | undefined,
  ): Promise<EnvironmentLock | null> {
    if (ref === undefined) return null;
    const known = this.#remembered.get(ref.environment);
    if (known?.generation === ref.generation) return known.lock;
    const metadata = await this.store.find(ref.environment);
    if (metadata?.generation !== ref.generation) throw this.#gone(ref.environment, ref.generation);
    return this.ofWhole(metadata);
  }

  ofWhole(metadata: Metadata): Promise<EnvironmentLock | null> {
    const { name, generation } = metadata;
    const known = this.#remembered.get(name);
    if (known?.generation === generation) return known.lock;
    const lock = this.#read(metadata);
    this.#remembered.set(name, { generation, lock });
    lock.catch(() => this.#remembered.delete(name));
    return lock;
  }

  async #read({ name, generation, python, inherit }: Metadata): Promise<EnvironmentLock | null> {
    try {
      const { pins } = parseLockFile(await readFile(this.store.layout.lockFile(name, generation), 'utf8'));
      const about = { pythonVersion: minorOf(python.version), ...(inherit && { inherit }) };
      const text = renderLockFile(pins, about);
      return { sha256: sha256(text), text };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') return null;
      const now = await this.store.find(name);
      throw now?.generation === generation ? damaged(name) : this.#gone(name, generation);
    }
  }

  #gone(name: string, generation: string): GenerationGone {
    return new GenerationGone(this.store.layout.venv(name, generation));
  }
}
