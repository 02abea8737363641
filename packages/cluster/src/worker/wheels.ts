import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Logger, PungiError } from '@pungi/core/base';
import type { LockedOptions } from '@pungi/core/environments';
import { hashesOf, type WheelStore } from '../wheel-store.js';

/** Lets a worker that reaches no package index take the wheels of a lock from the cluster. */
export class Wheels {
  constructor(
    private readonly store: WheelStore,
    /** The wheels of one lock. */
    private readonly mostMb: number,
    private readonly logger: Logger,
  ) {}

  /** Calls again with a folder of wheels if the first attempt found no index. Throws the first error if the cluster has none of them. */
  async use<T>(lock: string, work: (options: Pick<LockedOptions, 'wheels'>) => Promise<T>): Promise<T> {
    try {
      return await work({});
    } catch (error) {
      if (!isUnreachable(error)) throw error;
      const folder = await mkdtemp(join(tmpdir(), 'pungi-wheels-'));
      try {
        const mostBytes = this.mostMb * 1024 * 1024;
        const count = await this.store.fetch(hashesOf(lock), folder, mostBytes, this.logger);
        if (count === 0) throw error;
        this.logger.info('Wheels are taken from the cluster', { wheels: count });
        return await work({ wheels: folder });
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }
  }
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof PungiError && Array.isArray(error.details['unreachable']);
