import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { descendantsOf, isAlive, type KnownProcess } from '../../../../tests/support/processes.js';
import { until } from '../../../../tests/support/until.js';
import { Pungi } from '../../../pungi/src/index.js';
import {
  expectOk,
  listeningLogger,
  printed,
  sharedPungi,
  startPungi,
  verdictOf,
  withPungi,
} from './pungi.js';

const pungi = sharedPungi({ POOL_SIZE: '2', PRELOAD_MODULES: 'json decimal' });

const poolOf = async (engine: Pungi) => (await engine.health()).pool;
const isFull = (engine: Pungi) => async () => {
  const { parked, target, parking, busy } = await poolOf(engine);
  // What a burst needed beyond that stays for a moment.
  return parked >= target && parking === 0 && busy === 0;
};

/** The fork servers of this test process: its children that are Python. */
const forkServers = (): KnownProcess[] =>
  descendantsOf(process.pid).filter(
    ({ parent, command }) => parent === process.pid && command.startsWith('python'),
  );

async function whileOthersAre<T>(
  use: (own: Pungi, forkServer: () => KnownProcess) => Promise<T>,
  settings = {},
) {
  const before = new Set(forkServers().map(({ pid }) => pid));
  return withPungi({ POOL_SIZE: '2', ...settings }, async (own) => {
    await own.ready();
    return use(own, () => {
      const [found, ...more] = forkServers().filter(({ pid }) => !before.has(pid));
      expect(more).toEqual([]);
      return found!;
    });
  });
}

describe('the pool', () => {
  test('parks as many workers as it should, and replaces those that are used', async () => {
    await until(isFull(pungi), 'the pool is full');
    expect(await poolOf(pungi)).toEqual({
      target: 2,
      parked: 2,
      parking: 0,
      busy: 0,
      forkServers: 1,
      restarts: 0,
    });
    await printed(pungi, { code: 'print(1)' });
    await until(isFull(pungi), 'the pool is full again');
  });

  test('has preloaded modules in every worker', async () => {
    const code = 'import sys; print("decimal" in sys.modules, "sqlite3" in sys.modules)';
    expect(await printed(pungi, { code })).toBe('True False\n');
  });

  test('counts who is busy', async () => {
    const cancel = new AbortController();
    const run = pungi.run({ code: 'import threading\nthreading.Event().wait()' }, { signal: cancel.signal });
    await until(async () => (await poolOf(pungi)).busy === 1, 'one is busy');
    cancel.abort();
    await run;
    expect((await poolOf(pungi)).busy).toBe(0);
  });

  test('serves more at once than it has parked', async () => {
    const cancel = new AbortController();
    let going = 0;
    const runs = Array.from({ length: 5 }, () =>
      pungi.run(
        { code: 'import threading\nprint("going")\nthreading.Event().wait()' },
        { signal: cancel.signal, onLine: () => (going += 1) },
      ),
    );
    await until(() => going === 5, 'all five go on at once');
    cancel.abort();
    for (const outcome of await Promise.all(runs)) verdictOf(outcome, 'cancelled');
  });

  test('as many sessions as there may be do not end the fork server', async () => {
    const settings = { POOL_SIZE: '1', MAX_SESSIONS: '12', MAX_SESSIONS_PER_CALLER: '12' };
    await withPungi(settings, async (own) => {
      const opened = await Promise.all(
        Array.from({ length: 12 }, (_, n) => own.run({ code: `x = ${n}`, session: 'new' })),
      );
      // Its guard looks every second, and ends it after five looks at too many processes.
      expectOk(await own.run({ code: 'import time\ntime.sleep(8)' }));
      for (const [n, { session }] of opened.entries()) {
        const { value } = await own.run({ code: 'x', session: session!.id });
        expect(value).toMatchObject({ repr: `${n}` });
      }
      expect(await poolOf(own)).toMatchObject({ restarts: 0 });
    });
  });

  test('a session that is ended while it is forked from another one leaves no process', async () => {
    await whileOthersAre(async (own, forkServer) => {
      await until(isFull(own), 'the pool is full');
      const processes = () => descendantsOf(forkServer().pid).length;
      const before = processes();
      const { session } = await own.run({ code: 'x = bytearray(b"1") * 60_000_000', session: 'new' });
      const forked = own.forkSession(session!.id);
      while (own.sessions().length < 2) await setImmediate();
      own.endSession(own.sessions()[1]!.id);
      await expect(forked).rejects.toMatchObject({ code: 'SESSION_ENDED' });
      own.endSession(session!.id);
      await until(async () => (await isFull(own)()) && processes() === before, 'nothing is left of them');
    });
  });

  test('a prompt that is typed into fast does not end the fork server of a shell', async () => {
    // The settings of `pungi shell`.
    const config = { poolSize: 1, maxConcurrentExecutions: 1, audit: false };
    await using own = Pungi.start(config, undefined, 'command');
    const { session } = await own.run({ code: 'x = 1', session: 'new' });
    const until = performance.now() + 9000;
    while (performance.now() < until) await own.readPrompt({ code: 'x', isTyped: true });
    expect((await own.run({ code: 'x', session: session!.id })).value?.json).toBe(1);
    expect(await poolOf(own)).toMatchObject({ restarts: 0 });
  });

  test('a parked worker that dies is replaced', async () => {
    await whileOthersAre(async (own, forkServer) => {
      await until(isFull(own), 'the pool is full');
      const before = descendantsOf(forkServer().pid);
      const victim = before.at(-1)!;
      process.kill(victim.pid, 'SIGKILL');
      const known = new Set(before.map(({ pid }) => pid));
      await until(
        () => descendantsOf(forkServer().pid).some(({ pid }) => !known.has(pid)),
        'another one comes',
      );
      await until(isFull(own), 'the pool is full again');
      expect(isAlive(victim)).toBe(false);
      for (let n = 0; n < 5; n += 1) expect(await printed(own, { code: 'print("fine")' })).toBe('fine\n');
    });
  });
});

describe('a fork server that is killed', () => {
  test('is started again, and the next runs work', async () => {
    await whileOthersAre(async (own, forkServer) => {
      const first = forkServer();
      process.kill(first.pid, 'SIGKILL');
      await until(async () => (await poolOf(own)).restarts === 1, 'the death was noticed');
      for (let n = 0; n < 3; n += 1) expect(await printed(own, { code: 'print("back")' })).toBe('back\n');
      expect(forkServer().pid).not.toBe(first.pid);
      expect(await poolOf(own)).toMatchObject({ forkServers: 1, restarts: 1 });
      await until(isFull(own), 'the pool is full again, and its figures are right');
    });
  });

  test('runs that are asked for at that very moment are answered', async () => {
    await whileOthersAre(async (own, forkServer) => {
      process.kill(forkServer().pid, 'SIGKILL');
      const outcomes = await Promise.all(Array.from({ length: 8 }, () => own.run({ code: 'print("x")' })));
      // Those that were handed to a worker in the instant of its death are lost, and say so; or their supervisor still does.
      for (const { verdict } of outcomes) expect(['ok', 'internal', 'killed']).toContain(verdict.kind);
      expectOk(await own.run({ code: 'print("x")' }));
    });
  });

  test('takes its runs along, which say so', async () => {
    await whileOthersAre(async (own, forkServer) => {
      let isGoing = false;
      const run = own.run(
        { code: 'import threading\nprint("going")\nthreading.Event().wait()' },
        { onLine: () => (isGoing = true) },
      );
      await until(() => isGoing, 'the run goes on');
      const all = descendantsOf(forkServer().pid);
      process.kill(forkServer().pid, 'SIGKILL');
      const outcome = await run;
      // The kernel may end the script first, and its supervisor still report it.
      expect(['internal', 'killed']).toContain(outcome.verdict.kind);
      if (outcome.verdict.kind === 'internal') expect(outcome.verdict.message).toContain('run it again');
      expect(outcome.stdout.text).toBe('going\n');
      await until(() => !all.some(isAlive), 'nothing of it is alive');
    });
  });

  test('again and again is still started again', async () => {
    await whileOthersAre(async (own, forkServer) => {
      for (let round = 1; round <= 3; round += 1) {
        const known = await until(forkServer, 'there is a fork server');
        process.kill(known.pid, 'SIGKILL');
        await until(async () => (await poolOf(own)).restarts === round, 'the death was noticed');
        expectOk(await own.run({ code: 'print(1)' }));
      }
    });
  });
});

describe('an idle fork server', () => {
  test('is retired after its last run, and comes back for the next', async () => {
    const logger = listeningLogger();
    const own = startPungi({ IDLE_TIMEOUT_MS: '1000', POOL_SIZE: '2' }, logger);
    try {
      for (let round = 0; round < 2; round += 1) {
        expectOk(await own.run({ code: 'print(1)' }));
        await until(async () => (await poolOf(own)).forkServers === 0, 'the fork server is gone');
        expect(await poolOf(own)).toMatchObject({ parked: 0, parking: 0, restarts: 0 });
      }
      expectOk(await own.run({ code: 'print(1)' }));
      await until(isFull(own), 'the pool is full again, and its figures are right');
      expect(logger.entries.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      await own.close();
    }
  });

  test('is retired if nobody ever used it', async () => {
    await withPungi({ IDLE_TIMEOUT_MS: '1000' }, async (own) => {
      await own.ready();
      await until(async () => (await poolOf(own)).forkServers === 0, 'the fork server is gone', 5000);
      expectOk(await own.run({ code: 'print(1)' }));
    });
  });

  test('is not idle while a run goes on', async () => {
    await withPungi({ IDLE_TIMEOUT_MS: '1000' }, async (own) => {
      const long = own.run({ code: 'import threading\nthreading.Event().wait(1.5)\nprint("through")' });
      expectOk(await own.run({ code: 'print("short, and it starts the clock")' }));
      const outcome = await long;
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('through\n');
    });
  });
});
