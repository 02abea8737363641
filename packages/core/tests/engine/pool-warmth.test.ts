import { expect, test, vi } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { silentLogger } from '../../src/base/logger.js';
import { Pool } from '../../src/engine/pool.js';
import type { ForkServer } from '../../src/runtime/fork-server.js';
import type { Supervisor } from '../../src/runtime/supervisor.js';

/** Parks at once, and says what it was asked to do. */
function stand(name: string, warmed: string[], dismissed: string[]): Supervisor {
  const supervisor = {
    about: undefined,
    isCold: false,
    isParked: true,
    onParked: () => {},
    onLost: () => {},
    discard: () => dismissed.push(name),
    warmUp() {
      supervisor.isCold = false;
      warmed.push(name);
      setImmediate(() => supervisor.onParked());
    },
  };
  return supervisor as unknown as Supervisor;
}

async function poolOf(size: number) {
  const [warmed, dismissed]: string[][] = [[], []];
  let made = 0;
  const forkServer = {
    isAlive: true,
    exited: new Promise<string>(() => {}),
    start: async () => {
      made += 1;
      return stand(`${made}`, warmed!, dismissed!);
    },
    end: async () => {},
    markRuns: () => {},
  };
  const start = () => forkServer as unknown as ForkServer;
  const pool = new Pool({ size, idleTimeoutMs: 60_000, start, logger: silentLogger });
  await until(() => pool.parked === size, 'the pool is full');
  return { pool, warmed: warmed!, dismissed: dismissed! };
}

/** As after a run that was made in a hurry. */
function endCold(pool: Pool, supervisor: Supervisor): void {
  supervisor.isCold = true;
  supervisor.isParked = false;
  pool.giveBack(supervisor);
  supervisor.isParked = true;
  supervisor.onParked();
}

test('what was parked in a hurry is warmed up when nothing goes on any more', async () => {
  const { pool, warmed } = await poolOf(3);
  const taken = await Promise.all([pool.take(), pool.take(), pool.take()]);
  for (const supervisor of taken) endCold(pool, supervisor);
  await until(() => warmed.length === 3 && pool.parked === 3, 'all are warm again');
  expect([...warmed].sort()).toEqual(['1', '2', '3']);
  await pool.close();
});

test('not while a run goes on', async () => {
  vi.useFakeTimers();
  try {
    const { pool, warmed } = await fakeTimed(poolOf(2));
    const [first, second] = [await pool.take(), await pool.take()];
    endCold(pool, first);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(warmed).toEqual([]);
    endCold(pool, second);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(warmed).toHaveLength(2);
    await pool.close();
  } finally {
    vi.useRealTimers();
  }
});

test('what a burst needed is kept for the next one, and dismissed when it was not needed for a while', async () => {
  vi.useFakeTimers();
  try {
    const { pool, dismissed } = await fakeTimed(poolOf(2));
    for (let burst = 0; burst < 5; burst += 1) {
      const taken = await fakeTimed(Promise.all(Array.from({ length: 6 }, () => pool.take())));
      for (const supervisor of taken) pool.giveBack(supervisor);
    }
    expect(dismissed).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(pool.parked).toBe(2);
    // Eight were enough for all bursts: six and two to spare.
    expect(dismissed).toHaveLength(6);
    await pool.close();
  } finally {
    vi.useRealTimers();
  }
});

/** `until` waits by the clock, which stands still. */
async function fakeTimed<T>(promise: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(1000);
  return promise;
}
