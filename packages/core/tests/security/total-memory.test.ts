import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAIN } from '../../../../tests/support/main.js';
import { Config } from '../../src/config/schema.js';
import { Pungi } from '../../src/pungi.js';
import { cgroupsOf, findCgroups } from './cgroups.js';

const here = process.platform === 'linux' ? findCgroups() : { reason: 'not Linux' };
const HOLD = 'kept = b"x" * (70 << 20)\nimport time\ntime.sleep(1.5)\n';

let folder: string;
let pungi: Pungi | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-total-'));
});
afterEach(async () => {
  await pungi?.close();
  pungi = undefined;
  rmSync(folder, { recursive: true, force: true });
});

function start(settings: Record<string, unknown>): Pungi {
  const own = { audit: false, cacheDir: join(folder, 'cache'), venvsBasePath: join(folder, 'environments') };
  pungi = Pungi.start(Config.parse({ ...own, ...settings }));
  return pungi;
}

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await sleep(5);
}

describe.runIf(process.platform === 'linux')('without cgroups', () => {
  const settings = { cgroups: 'off', maxTotalMemoryMb: 150 };

  test('a run waits while it and the active ones could use more than the total', async () => {
    const server = start(settings);
    const limits = { memoryMb: 100 };
    const runs = [1, 2].map(() => server.run({ code: HOLD, limits }));
    await until(async () => {
      const { active, waiting } = (await server.health()).queue;
      return active === 1 && waiting === 1;
    });
    expect((await Promise.all(runs)).map(({ verdict }) => verdict.kind)).toEqual(['ok', 'ok']);
    const { isolation } = await server.health();
    expect(isolation).toMatchObject({ totalMemoryMb: 150, cgroup: { version: null } });
  });

  test('a run that can never fit is refused with the setting to change', async () => {
    const { verdict } = await start(settings).run({ code: '1', limits: { memoryMb: 200 } });
    expect(verdict).toMatchObject({
      kind: 'denied',
      message: expect.stringContaining('MAX_TOTAL_MEMORY_MB'),
    });
  });
});

describe.runIf('version' in here)('with cgroups', () => {
  test('runs that together pass the total are ended by the kernel, and told so', async () => {
    const server = start({ maxTotalMemoryMb: 110, poolSize: 2, maxMemoryMb: 100 });
    const outcomes = await Promise.all([1, 2].map(() => server.run({ code: HOLD })));
    const ended = outcomes.filter(({ verdict }) => verdict.kind === 'memory-exceeded');
    expect(ended).toHaveLength(1);
    expect(ended[0]!.verdict).toMatchObject({ message: expect.stringContaining('All runs together') });
    expect((await server.health()).isolation.totalMemoryMb).toBe(110);
  });

  test('no cgroup is left behind by a server that is killed', async () => {
    const env = { ...process.env, AUDIT: 'false', VENVS_BASE_PATH: join(folder, 'environments') };
    const server = spawn(process.execPath, [MAIN, 'serve'], { stdio: ['pipe', 'ignore', 'ignore'], env });
    const left = () => ('folder' in here ? cgroupsOf(server.pid!, here.folder) : []);
    await until(() => left().length > 0);
    server.kill('SIGKILL');
    await once(server, 'exit');
    await until(() => left().length === 0);
  });
});
