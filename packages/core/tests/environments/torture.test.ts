import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { openWorld } from './world.js';

/** TORTURE_STEPS=200 npx vitest run packages/core/tests/environments/torture.test.ts for a long one. */
const STEPS = Number(process.env['TORTURE_STEPS'] ?? 12);
const PROCESSES = 4;
const KILLED = 3;

const world = await openWorld();
const fixture = join(import.meta.dirname, 'fixtures', 'torture.mjs');

interface Said {
  action?: string;
  refused?: string;
  wrong?: string;
  done?: boolean;
}

function torture(seed: number): { child: ChildProcess; said: Promise<Said[]>; heard: () => number } {
  const env = { ...process.env, TORTURE: JSON.stringify({ settings: world.settings, seed, steps: STEPS }) };
  const child = spawn(process.execPath, [fixture], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let heard = 0;
  child.stdout!.on('data', () => {
    heard += 1;
  });
  const said = text(child.stdout!).then((all) =>
    all
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Said),
  );
  return { child, said, heard: () => heard };
}

test('many processes on one folder, some of them killed at any moment, leave every environment whole or absent', {
  timeout: 300_000,
}, async () => {
  const seed = Date.now() % 100_000;
  const survivors = Array.from({ length: PROCESSES }, (_, index) => torture(seed + index));
  const all = [...survivors];
  for (let killed = 0; killed < KILLED; killed += 1) {
    const victim = torture(seed + 100 + killed);
    all.push(victim);
    // In the middle of something: it has begun, and its next action is under way.
    await until(() => victim.heard() > killed || victim.child.exitCode !== null, 'the process acts', 60_000);
    victim.child.kill('SIGKILL');
  }
  const said = (await Promise.all(all.map((one) => one.said))).flat();
  expect(said.flatMap(({ wrong, action }) => (wrong ? [`${action}: ${wrong} (seed ${seed})`] : []))).toEqual(
    [],
  );
  expect(said.filter(({ done }) => done)).toHaveLength(PROCESSES);
  expect(said.filter(({ action, refused }) => action === 'run' && !refused).length).toBeGreaterThan(0);

  const pungi = world.start();
  const left = (await pungi.environments.list()).filter(({ path }) => path !== null);
  expect(left.map(({ state }) => state)).toEqual(left.map(() => 'ready'));
  for (const { venvName } of left) {
    const { verdict } = await pungi.run({
      code: 'import importlib.metadata as m; list(m.distributions())',
      venvName,
    });
    expect(verdict).toEqual({ kind: 'ok' });
    // The next change sweeps up what the killed ones left.
    await pungi.environments.setDescription(venvName, 'survived');
    expect(readdirSync(join(world.base, venvName)).filter((name) => /^g\w+$/.test(name))).toHaveLength(1);
  }
  await pungi.environments.clean();
  expect(readdirSync(join(world.base, '.trash'))).toEqual([]);
});
