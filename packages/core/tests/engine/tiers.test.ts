import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { PungiError } from '../../../pungi/src/index.js';
import { expectOk, publicInterpreter, startPungi, verdictOf, withPungi } from './pungi.js';

const python = await publicInterpreter();
const settings = (more: Record<string, string>) => ({
  ...(python === '' ? {} : { PUNGI_PYTHON: python }),
  ...more,
});

describe('a tier', () => {
  test('auto is the strongest, and every outcome names it', async () => {
    await withPungi(settings({}), async (pungi) => {
      const { tier, refused, features } = await pungi.state();
      expect({ tier, refused }).toEqual({ tier: 'namespace', refused: [] });
      const outcome = await pungi.run({ code: 'print(1)' });
      expect(outcome.isolation).toEqual({ tier: 'namespace', features });
      expect(features).toEqual(
        expect.arrayContaining([
          'user-namespace',
          'pid-namespace',
          'mount-namespace',
          'network-namespace',
          'seccomp',
        ]),
      );
      expect((await pungi.health()).isolation).toMatchObject({ tier: 'namespace', warning: null });
    });
  });

  test('namespace really has namespaces of its own', async () => {
    await withPungi(settings({ PUNGI_TIER: 'namespace' }), async (pungi) => {
      const kinds = ['user', 'pid', 'mnt', 'ipc', 'net', 'uts'];
      const code = `import os\nprint(*(os.readlink(f"/proc/self/ns/{kind}") for kind in ${JSON.stringify(kinds)}))`;
      const { stdout } = await pungi.run({ code });
      const inside = stdout.text.trim().split(' ');
      expect(inside).toHaveLength(kinds.length);
      for (const [index, kind] of kinds.entries()) {
        expect(inside[index]).not.toBe(readlinkSync(`/proc/self/ns/${kind}`));
      }
    });
  });

  test('landlock is chosen by PUNGI_TIER, and warns that it is not the strongest', async () => {
    await withPungi(settings({ PUNGI_TIER: 'landlock' }), async (pungi) => {
      const outcome = await pungi.run({ code: 'print(open("/etc/shadow").read())' });
      expect(verdictOf(outcome, 'python-error').exception.type).toBe('PermissionError');
      expect(outcome.isolation.tier).toBe('landlock');
      expect(outcome.isolation.features).toEqual(
        expect.arrayContaining(['seccomp', expect.stringMatching(/^landlock-\d/)]),
      );
      expect((await pungi.health()).isolation.warning).toContain('landlock');
    });
  });

  test.each(['process', 'spawn'])(
    '%s is refused without ALLOW_UNSANDBOXED, and the sentence says what to do',
    async (tier) => {
      await withPungi(settings({ PUNGI_TIER: tier }), async (pungi) => {
        const error: PungiError = await pungi.ready().then(
          () => expect.unreachable('it started'),
          (thrown: PungiError) => thrown,
        );
        expect(error.code).toBe('SANDBOX_UNAVAILABLE');
        expect(error.message).toContain('ALLOW_UNSANDBOXED=true');
        const outcome = await pungi.run({ code: 'print(1)' });
        expect(verdictOf(outcome, 'unavailable').message).toBe(error.message);
        expect(outcome.stdout.text).toBe('');
        expect(await pungi.health()).toMatchObject({ status: 'unhealthy', problem: error.message });
      });
    },
  );

  test.each(['process', 'spawn'])('%s works with it, and says that it does not isolate', async (tier) => {
    await withPungi(settings({ PUNGI_TIER: tier, ALLOW_UNSANDBOXED: 'true' }), async (pungi) => {
      const outcome = await pungi.run({
        code: 'import os\nprint(os.getcwd() == os.environ["HOME"])\nos.getuid()',
      });
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('True\n');
      expect(outcome.value?.json).not.toBe(0);
      expect(outcome.isolation.tier).toBe(tier);
      expect((await pungi.health()).isolation.warning).toContain('not isolated');
    });
  });

  test('process is not taken by auto while a stronger one works, even if it is allowed', async () => {
    await withPungi(settings({ ALLOW_UNSANDBOXED: 'true' }), async (pungi) => {
      expect((await pungi.state()).tier).toBe('namespace');
    });
  });

  test.each(['landlock', 'process', 'spawn'] as const)(
    '%s keeps the limits and ends every process',
    async (tier) => {
      const own = settings({ PUNGI_TIER: tier, ALLOW_UNSANDBOXED: 'true', MAX_DISK_MB: '8' });
      await withPungi(own, async (pungi) => {
        const run = (code: string, limits = {}) => pungi.run({ code, limits });
        verdictOf(await run('import threading\nthreading.Event().wait()', { timeoutMs: 300 }), 'timed-out');
        verdictOf(await run('while True: pass', { cpuMs: 200 }), 'cpu-exceeded');
        verdictOf(
          await run('kept = []\nwhile True: kept.append(b"x" * 2**20)', { memoryMb: 80 }),
          'memory-exceeded',
        );
        verdictOf(await run('while True: print("x" * 999)', { outputHardBytes: 50_000 }), 'output-exceeded');
        verdictOf(
          await run('for n in range(50): open(str(n), "wb").write(b"x" * 2**20)\nwhile True: pass'),
          'disk-exceeded',
        );
        verdictOf(
          await run('import os, time\nfor _ in range(9): os.fork() or time.sleep(99)\ntime.sleep(99)', {
            processes: 5,
          }),
          'processes-exceeded',
        );
        const late = await run(
          'import subprocess\nsubprocess.Popen(["sleep", "9999"])\nprint("main is done")',
        );
        expectOk(late);
        expect(late.stdout.text).toBe('main is done\n');
      });
    },
  );

  test('landlock does not count the processes of one run against another one', async () => {
    await withPungi(settings({ PUNGI_TIER: 'landlock', POOL_SIZE: '2' }), async (pungi) => {
      await until(async () => (await pungi.health()).pool.parked === 2, 'both workers are parked');
      const cancel = new AbortController();
      let isGoing = false;
      const many =
        'import os, signal\nfor _ in range(40): os.fork() or signal.pause()\nprint("forked")\nsignal.pause()';
      const first = pungi.run({ code: many }, { signal: cancel.signal, onLine: () => (isGoing = true) });
      await until(() => isGoing, 'the first run has its processes');
      const few = 'import subprocess\nprint([subprocess.run(["true"]).returncode for _ in range(3)])';
      const second = await pungi.run({ code: few, limits: { processes: 10 } });
      cancel.abort();
      await first;
      expectOk(second);
      expect(second.stdout.text).toBe('[0, 0, 0]\n');
    });
  });

  test('landlock and process leave nothing in their work folder', async () => {
    for (const tier of ['landlock', 'process']) {
      await withPungi(settings({ PUNGI_TIER: tier, ALLOW_UNSANDBOXED: 'true' }), async (pungi) => {
        const write =
          'import os\nos.makedirs("a/b")\nopen("a/b/c", "w").write("x")\nos.chmod("a", 0)\nprint(os.getcwd())';
        const { stdout } = await pungi.run({ code: write });
        const folder = stdout.text.trim();
        expect(folder).toMatch(/^\/.+\/work$/);
        // The place is emptied for the next run once the answer is out.
        await until(() => existsSync(folder) && readdirSync(folder).length === 0, 'the work folder is empty');
        const killed = await pungi.run({ code: `${write}\nwhile True: pass`, limits: { timeoutMs: 500 } });
        verdictOf(killed, 'timed-out');
        await until(() => !existsSync(killed.stdout.text.trim()), 'the work folder is gone');
      });
    }
  });

  test('landlock, process and spawn remove their work folders when they are closed', async () => {
    for (const tier of ['landlock', 'process', 'spawn']) {
      const folder = await withPungi(
        settings({ PUNGI_TIER: tier, ALLOW_UNSANDBOXED: 'true' }),
        async (pungi) => (await pungi.run({ code: 'import os\nprint(os.getcwd())' })).stdout.text.trim(),
      );
      expect(folder).toMatch(/^\/.+\/work$/);
      expect(existsSync(folder)).toBe(false);
    }
  });

  test('one that does not exist is a mistake in the configuration', () => {
    expect(() => startPungi({ PUNGI_TIER: 'docker' })).toThrow(
      /PUNGI_TIER is "docker".*namespace, landlock, process, spawn/,
    );
  });
});
