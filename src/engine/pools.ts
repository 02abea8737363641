import type { Home } from './home.js';
import type { Pool } from './pool.js';

interface Warm {
  generation: string;
  pool: Pool;
}

/** One pool for each environment in use. Beyond the limit, the one that was not used for longest goes. */
export class Pools {
  /** In the order of their last use. */
  #warm = new Map<string, Warm>();
  #leaving = new Set<Promise<void>>();

  constructor(
    private readonly limit: number,
    private readonly open: (home: Home) => Pool,
  ) {}

  get all(): Pool[] {
    return [...this.#warm.values()].map(({ pool }) => pool);
  }

  get names(): string[] {
    return [...this.#warm.keys()];
  }

  /** The pool of an environment, if it has one. */
  find(environment: string): Pool | undefined {
    return this.#warm.get(environment)?.pool;
  }

  adopt({ environment, generation }: Home, pool: Pool): void {
    this.#warm.set(environment, { generation, pool });
  }

  for(home: Home): Pool {
    const known = this.#warm.get(home.environment);
    if (known?.generation === home.generation) {
      this.#warm.delete(home.environment);
      this.#warm.set(home.environment, known);
      return known.pool;
    }
    this.retire(home.environment);
    this.#makeRoom();
    const pool = this.open(home);
    this.adopt(home, pool);
    return pool;
  }

  /** Its parked workers go at once, each run in flight with its end. */
  retire(environment: string): void {
    const known = this.#warm.get(environment);
    if (!known) return;
    this.#warm.delete(environment);
    const left = known.pool.drain().finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async close(): Promise<void> {
    await Promise.all([...this.all.map((pool) => pool.close()), ...this.#leaving]);
  }

  #makeRoom(): void {
    for (const [environment, { pool }] of this.#warm) {
      if (this.#warm.size < this.limit) return;
      if (pool.isIdle) this.retire(environment);
    }
  }
}
