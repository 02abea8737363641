import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { publicInterpreter, temporaryFolder } from '../../../../tests/support/places.js';
import { until } from '../../../../tests/support/until.js';
import { isPlain, PLAIN, poolSpecKey } from '../../src/engine/environment-ref.js';
import type { Network } from '../../src/engine/pool-opener.js';
import { jobOf, poolSpecOf, poolsOf, runIn, sharedEngine, withEngine } from './engine.js';
import { expectOk, verdictOf } from './outcomes.js';

const python = (await publicInterpreter()) || undefined;
const engine = sharedEngine({ preload: ['decimal'] });
const PRELOADED = poolSpecOf({ preload: ['colorsys', 'no_such_module'] });
const LOADED = 'import sys\nprint("decimal" in sys.modules, "colorsys" in sys.modules)';

describe('pool specs', () => {
  test('are the same where they make the same workers', () => {
    const a = { preload: ['a', 'b'], data: [{ name: 'x', path: '/x' }], allowedHosts: ['h', 'i'] };
    const b = { preload: ['b', 'a', 'a'], data: [{ path: '/x', name: 'x' }], allowedHosts: ['i', 'h'] };
    expect(poolSpecKey(a)).toBe(poolSpecKey(b));
    for (const change of [{ preload: ['a'] }, { data: [{ name: 'x', path: '/y' }] }, { allowedHosts: ['h'] }])
      expect(poolSpecKey({ ...a, ...change })).not.toBe(poolSpecKey(a));
    expect([isPlain(PLAIN), isPlain(poolSpecOf()), isPlain(a)]).toEqual([true, true, false]);
  });
});

describe("a profile's modules", () => {
  test("are loaded in its own workers beside the server's, and missing ones passed over", async () => {
    expect((await runIn(engine, LOADED, { poolSpec: PRELOADED })).stdout.text).toBe('True True\n');
    expect((await runIn(engine, LOADED)).stdout.text).toBe('True False\n');
  });
});

describe('a module that', () => {
  test('wants to end the interpreter when it is imported is passed over', async () => {
    const poolSpec = poolSpecOf({ preload: ['unittest.__main__', 'colorsys'] });
    expect((await runIn(engine, LOADED, { poolSpec })).stdout.text).toBe('True True\n');
  });
});

describe('pools', () => {
  test('there is one for each spec, used again by whoever has the same', async () => {
    await withEngine({}, async (own) => {
      await runIn(own, '1');
      await runIn(own, '1', { poolSpec: PRELOADED });
      await runIn(own, '1', { poolSpec: poolSpecOf({ preload: ['no_such_module', 'colorsys'] }) });
      await runIn(own, '1', { poolSpec: poolSpecOf() });
      expect(poolsOf(own).all).toHaveLength(2);
      expect(poolsOf(own).names).toEqual(['default']);
    });
  });

  test('an environment is found by its plain pool, or by any', async () => {
    await withEngine({}, async (own) => {
      await runIn(own, '1', { poolSpec: PRELOADED });
      const [plain, special] = poolsOf(own).all;
      expect(poolsOf(own).find('default')).toBe(plain);
      poolsOf(own).giveUp(plain!);
      expect(poolsOf(own).find('default')).toBe(special);
      expect(poolsOf(own).find('other')).toBeUndefined();
    });
  });

  test('retiring an environment retires all of its pools', async () => {
    await withEngine({}, async (own) => {
      await runIn(own, '1', { poolSpec: PRELOADED });
      const pools = poolsOf(own).all;
      expect(pools).toHaveLength(2);
      poolsOf(own).retire('default', null);
      expect(poolsOf(own).all).toEqual([]);
      await until(() => pools.every((pool) => pool.forkServers === 0), 'their fork servers are gone');
      expectOk(await runIn(own, '1', { poolSpec: PRELOADED }));
    });
  });

  test('a new generation retires all pools of the one before', async () => {
    await withEngine({}, async (own) => {
      const { interpreter } = await own.started;
      const ref = (generation: string) => ({
        environment: 'ml',
        generation,
        python: interpreter.path,
        roots: [],
      });
      await runIn(own, '1', { ref: ref('one'), poolSpec: PRELOADED });
      await runIn(own, '1', { ref: ref('one') });
      const old = poolsOf(own).all.slice(1);
      expect(old).toHaveLength(2);
      await runIn(own, '1', { ref: ref('two'), poolSpec: PRELOADED });
      expect(poolsOf(own).all).toHaveLength(2);
      await until(() => old.every((pool) => pool.forkServers === 0), 'the old fork servers are gone');
    });
  });

  test('looking at code needs no pool of its own', async () => {
    await withEngine({}, async (own) => {
      const { interpreter } = await own.started;
      const ref = { environment: 'ml', generation: 'one', python: interpreter.path, roots: [] };
      const job = jobOf('import os');
      await runIn(own, '1', { ref, poolSpec: PRELOADED });
      await own.examine(job, ref);
      await own.compile(job, ref);
      expect(own.bytecodeTag(ref)).toBeDefined();
      expect(poolsOf(own).all).toHaveLength(2);
    });
  });

  test('no more are kept than may be, and the one used last stays', async () => {
    await withEngine({ maxWarm: 2 }, async (own) => {
      for (const module of ['colorsys', 'wave', 'sndhdr'])
        await runIn(own, '1', { poolSpec: poolSpecOf({ preload: [module] }) });
      expect(poolsOf(own).all).toHaveLength(2);
      const before = poolsOf(own).all[1];
      await runIn(own, '1', { poolSpec: poolSpecOf({ preload: ['sndhdr'] }) });
      expect(poolsOf(own).all[1]).toBe(before);
    });
  });
});

describe('a network', () => {
  const folder = temporaryFolder();
  const HOSTS = poolSpecOf({ allowedHosts: ['example.org'] });

  const socket = join(folder, 'proxy.sock');
  const proxy = createServer((connection) => connection.destroy()).listen(socket);
  afterAll(() => proxy.close());

  /** Stands for the proxy: tells how often it was opened and closed. */
  function countingNetwork() {
    const seen = { opened: [] as (readonly string[])[], entered: 0, left: 0, closed: 0 };
    const network = async (hosts: readonly string[]): Promise<Network> => {
      seen.opened.push(hosts);
      const close = async () => {
        seen.closed += 1;
      };
      const admit = () => {
        seen.entered += 1;
        return () => {
          seen.left += 1;
        };
      };
      return { socket, admit, close };
    };
    return { seen, network };
  }

  test('is opened once for a pool, lets each run in and out, and is closed with the pool', async () => {
    const { seen, network } = countingNetwork();
    await withEngine({ network }, async (own) => {
      for (const _ of [1, 2]) expectOk(await runIn(own, 'print(1)', { poolSpec: HOSTS }));
      expectOk(await runIn(own, 'print(1)'));
      expect(seen).toEqual({ opened: [['example.org']], entered: 2, left: 2, closed: 0 });
    });
    expect(seen.closed).toBe(1);
  });

  test('is refused in a tier that could not keep it to its hosts', async () => {
    const { seen, network } = countingNetwork();
    await withEngine({ tier: 'landlock', python, network }, async (own) => {
      const outcome = await runIn(own, 'print("ran")', { poolSpec: HOSTS });
      expect(verdictOf(outcome, 'denied').message).toMatch(
        /^A profile with network needs the namespace tier, and runs are in the landlock tier here/,
      );
      expect(outcome.stdout.text).toBe('');
      expectOk(await runIn(own, 'print(1)'));
    });
    expect(seen.opened).toEqual([]);
  });

  test('is refused where the server has none to give', async () => {
    const outcome = await runIn(engine, 'print("ran")', { poolSpec: HOSTS });
    expect(verdictOf(outcome, 'denied').message).toBe(
      'This server does not allow runs to reach the network.',
    );
  });

  test('that cannot be opened is told to every run, and tried again by the next', async () => {
    let tries = 0;
    const network = async (): Promise<Network> => {
      tries += 1;
      throw new Error('no port is left');
    };
    await withEngine({ network }, async (own) => {
      for (const _ of [1, 2]) {
        const outcome = await runIn(own, 'print("ran")', { poolSpec: HOSTS });
        expect(verdictOf(outcome, 'internal').message).toBe('No worker could be started: no port is left');
      }
      expectOk(await runIn(own, 'print(1)'));
    });
    expect(tries).toBe(2);
  });
});
