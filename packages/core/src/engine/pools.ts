import { dirname } from 'node:path';
import { GenerationGone } from '../runtime/fork-server.js';
import { type EnvironmentRef, isPlain, PLAIN, type PoolSpec, poolSpecKey } from './environment-ref.js';
import type { Pool } from './pool.js';

interface Warm {
  ref: EnvironmentRef;
  poolSpec: PoolSpec;
  pool: Pool;
}

/** One pool for each environment and spec in use. Beyond the limit, the least recently used one is closed. */
export class Pools {
  /** Ordered by last use. */
  #warm = new Map<string, Warm>();
  /** Generations that were replaced or deleted: a run that resolved one of them has to resolve again. */
  #retired = new Set<string>();
  #leaving = new Set<Promise<void>>();
  /** Pools that will replace others. */
  #coming = new Map<Pool, Pool>();

  constructor(
    private readonly limit: number,
    private readonly open: (ref: EnvironmentRef, poolSpec: PoolSpec) => Pool,
  ) {}

  get all(): Pool[] {
    return [...this.#warm.values()].map(({ pool }) => pool);
  }

  get names(): string[] {
    return [...new Set([...this.#warm.values()].map(({ ref }) => ref.environment))];
  }

  /** Returns a pool of an environment, if it has one: the plain one before those of profiles. */
  find(environment: string): Pool | undefined {
    const found = this.#of(environment).map(([, warm]) => warm);
    return (found.find(({ poolSpec }) => isPlain(poolSpec)) ?? found[0])?.pool;
  }

  /** Returns an existing pool of the environment, or the plain one, for work that any worker can do. */
  some(ref: EnvironmentRef): Pool {
    const found = this.#of(ref.environment).map(([, warm]) => warm);
    const isStale = found.some(({ ref: { generation } }) => generation !== ref.generation);
    return (isStale ? undefined : this.find(ref.environment)) ?? this.for(ref, PLAIN);
  }

  adopt(ref: EnvironmentRef, poolSpec: PoolSpec, pool: Pool): void {
    this.#warm.set(keyOf(ref, poolSpec), { ref, poolSpec, pool });
  }

  for(ref: EnvironmentRef, poolSpec: PoolSpec): Pool {
    const key = keyOf(ref, poolSpec);
    const known = this.#warm.get(key);
    if (known?.ref.generation === ref.generation) {
      this.#warm.delete(key);
      this.#warm.set(key, known);
      return known.pool;
    }
    if (this.#retired.has(ref.generation)) throw new GenerationGone(dirname(dirname(ref.python)));
    for (const [other, warm] of this.#of(ref.environment))
      if (warm.ref.generation !== ref.generation) void this.#retire(other);
    this.#makeRoom();
    const pool = this.open(ref, poolSpec);
    this.adopt(ref, poolSpec, pool);
    return pool;
  }

  /**
   * Called after an environment was changed or deleted. The parked workers of all generations except the current one
   * end at once, active runs keep theirs until they end. Resolves when all have ended.
   */
  async retire(environment: string, inForce: string | null): Promise<void> {
    const replaced = this.#of(environment).filter(([, { ref }]) => ref.generation !== inForce);
    // The plain interpreter has no generation, and may be needed again.
    for (const [, { ref }] of replaced) if (ref.generation !== '') this.#retired.add(ref.generation);
    await Promise.all(replaced.map(([key]) => this.#retire(key)));
  }

  /** Closes a pool that cannot park any worker: the next run opens a new one. */
  giveUp(pool: Pool): void {
    for (const [key, warm] of this.#warm) if (warm.pool === pool) void this.#retire(key);
  }

  /**
   * Replaces a pool by one with another fork server, once that has parked a worker. Runs under way keep theirs. Resolves to the
   * new pool, or to null if it could not park one.
   */
  async renew(pool: Pool): Promise<Pool | null | undefined> {
    const [key, warm] = [...this.#warm].find(([, one]) => one.pool === pool) ?? [];
    if (key === undefined || this.#coming.has(pool)) return undefined;
    const { ref, poolSpec } = warm!;
    const next = this.open(ref, poolSpec);
    this.#coming.set(pool, next);
    try {
      next.giveBack(await next.take());
    } catch {
      await next.close();
      return null;
    } finally {
      this.#coming.delete(pool);
    }
    if (this.#warm.get(key)?.pool !== pool) {
      await next.close();
      return undefined;
    }
    void this.#retire(key);
    this.adopt(ref, poolSpec, next);
    return next;
  }

  async close(): Promise<void> {
    const all = [...this.all, ...this.#coming.values()];
    await Promise.all([...all.map((pool) => pool.close()), ...this.#leaving]);
  }

  #of(environment: string): [string, Warm][] {
    return [...this.#warm].filter(([, { ref }]) => ref.environment === environment);
  }

  #retire(key: string): Promise<void> {
    const known = this.#warm.get(key)!;
    this.#warm.delete(key);
    const left = known.pool.drain().finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
    return left;
  }

  #makeRoom(): void {
    for (const [key, { pool }] of this.#warm) {
      if (this.#warm.size < this.limit) return;
      if (pool.isIdle) void this.#retire(key);
    }
  }
}

const keyOf = ({ environment }: EnvironmentRef, poolSpec: PoolSpec) =>
  JSON.stringify([environment, poolSpecKey(poolSpec)]);
