import { dirname } from 'node:path';
import { GenerationGone } from '../runtime/fork-server.js';
import { type EnvironmentRef, isPlain, PLAIN, type PoolSpec, poolSpecKey } from './environment-ref.js';
import type { Pool } from './pool.js';

interface Warm {
  ref: EnvironmentRef;
  poolSpec: PoolSpec;
  pool: Pool;
}

/** One pool for each environment and spec in use. Beyond the limit, the one that was not used for longest goes. */
export class Pools {
  /** In the order of their last use. */
  #warm = new Map<string, Warm>();
  /** Generations that were replaced or deleted: a run whose environment was looked up before has to look again. */
  #retired = new Set<string>();
  #leaving = new Set<Promise<void>>();

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

  /** A pool of an environment, if it has one: the plain one before those of profiles. */
  find(environment: string): Pool | undefined {
    const found = this.#of(environment).map(([, warm]) => warm);
    return (found.find(({ poolSpec }) => isPlain(poolSpec)) ?? found[0])?.pool;
  }

  /** For what any worker of the environment can do: a pool that is there, or the plain one. */
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
   * For an environment that was changed or deleted. The parked workers of all generations but the one in force go at once, each
   * run in flight with its end. Resolves when all have gone.
   */
  async retire(environment: string, inForce: string | null): Promise<void> {
    const replaced = this.#of(environment).filter(([, { ref }]) => ref.generation !== inForce);
    // The interpreter itself has no generation, and may be needed again.
    for (const [, { ref }] of replaced) if (ref.generation !== '') this.#retired.add(ref.generation);
    await Promise.all(replaced.map(([key]) => this.#retire(key)));
  }

  /** For a pool that cannot park any worker: the next run tries anew, and nobody tries in between. */
  giveUp(pool: Pool): void {
    for (const [key, warm] of this.#warm) if (warm.pool === pool) void this.#retire(key);
  }

  async close(): Promise<void> {
    await Promise.all([...this.all.map((pool) => pool.close()), ...this.#leaving]);
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
