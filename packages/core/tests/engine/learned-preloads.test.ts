import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { Pungi } from '../../../pungi/src/index.js';
import { importsIn, LearnedPreloads } from '../../src/engine/learned-preloads.js';
import { openWorld } from '../environments/world.js';
import { printed, publicInterpreter, SANDBOXES, temporaryFolder } from './pungi.js';

const MODULES: Record<string, string> = {
  heavy: 'WEIGHT = 1\n',
  shouts: 'print("imported")\n',
  sets_variable: 'import os\nos.environ["SET_BY_IMPORT"] = "1"\n',
  opens_socket: 'import socket\nPAIR = socket.socketpair()\n',
  starts_thread:
    'import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n',
};

const world = await openWorld(
  Object.entries(MODULES).map(([name, code]) => ({ name, version: '1.0', files: { [`${name}.py`]: code } })),
);
const python = await publicInterpreter();
// The sandbox's user reads it, too.
chmodSync(world.base, 0o755);
let made = 0;
const learnedBy = async (pungi: Pungi, venvName: string) =>
  (await pungi.health(venvName)).preloads.filter(({ isLearned }) => isLearned);

describe.each(SANDBOXES)('in the %s tier', (PUNGI_TIER) => {
  async function environmentWith(name: string): Promise<{ pungi: Pungi; venvName: string }> {
    const pungi = world.start({ PUNGI_TIER, PUNGI_PYTHON: python });
    made += 1;
    const venvName = `learning-${made}`;
    await pungi.environments.create({ venvName });
    await pungi.environments.install(venvName, [name]);
    return { pungi, venvName };
  }

  test('a module that runs import is loaded before the runs after them', async () => {
    const { pungi, venvName } = await environmentWith('heavy');
    const code = 'import sys; print("heavy" in sys.modules); import heavy';
    for (let run = 0; run < 3; run += 1) expect(await printed(pungi, { code, venvName })).toBe('False\n');
    await until(async () => (await learnedBy(pungi, venvName)).length > 0, 'it is preloaded');
    expect(await learnedBy(pungi, venvName)).toMatchObject([{ module: 'heavy', problem: null }]);
    expect(await printed(pungi, { code, venvName })).toBe('True\n');
    expect((await pungi.health(venvName)).pool.forkServers).toBe(1);
  });

  test.each([
    ['shouts', /prints/],
    ['sets_variable', /changes environment variables/],
    ['opens_socket', /opens a socket/],
    ['starts_thread', /threads/],
  ])('a module whose import has side effects, %s, is left to the runs', async (name, problem) => {
    const { pungi, venvName } = await environmentWith(name);
    const code = `import ${name}; import os; print(os.environ.get("SET_BY_IMPORT"))`;
    const before = await printed(pungi, { code, venvName });
    for (let run = 0; run < 2; run += 1) expect(await printed(pungi, { code, venvName })).toBe(before);
    await until(async () => (await learnedBy(pungi, venvName)).length > 0, 'it is tried');
    expect(await learnedBy(pungi, venvName)).toMatchObject([
      { module: name, problem: expect.stringMatching(problem) },
    ]);
    expect(await printed(pungi, { code, venvName })).toBe(before);
    expect(await printed(pungi, { code: `import sys; print("${name}" in sys.modules)`, venvName })).toBe(
      'False\n',
    );
  });

  test('a run in flight and a session keep their workers while modules are learned', async () => {
    const { pungi, venvName } = await environmentWith('heavy');
    const { session } = await pungi.run({ code: 'x = 41', venvName, session: 'new' });
    for (let run = 0; run < 3; run += 1) await printed(pungi, { code: 'import heavy', venvName });
    await until(async () => (await learnedBy(pungi, venvName)).length > 0, 'it is preloaded');
    expect(await printed(pungi, { code: 'print(x + 1)', session: session!.id })).toBe('42\n');
    pungi.endSession(session!.id);
  });
});

test('LEARN_PRELOADS=false learns nothing', async () => {
  const pungi = world.start({ LEARN_PRELOADS: 'false' });
  await pungi.environments.create({ venvName: 'none' });
  await pungi.environments.install('none', ['heavy']);
  for (let run = 0; run < 4; run += 1) await printed(pungi, { code: 'import heavy', venvName: 'none' });
  expect(await learnedBy(pungi, 'none')).toEqual([]);
  expect(await printed(pungi, { code: 'import sys; print("heavy" in sys.modules)', venvName: 'none' })).toBe(
    'False\n',
  );
});

test('imports are found in the text of the code', () => {
  const code =
    'import a, b.c as d\nfrom e.f import (g, h)\nif 1:\n    import i\nfrom . import j\nimport k;print()\n';
  expect(importsIn(code)).toEqual(['a', 'b.c', 'e.f', 'e.f.g', 'e.f.h', 'i', 'k']);
});

describe('a client that wants everything to be preloaded', () => {
  const folder = temporaryFolder();
  const packages = join(folder, 'lib/python3.11/site-packages');
  mkdirSync(packages, { recursive: true });
  const names = Array.from({ length: 100 }, (_, number) => `module_${number}`);
  for (const name of names) writeFileSync(join(packages, `${name}.py`), '');
  const lease = { generation: folder, runs: folder };
  const ref = { environment: 'e', generation: 'g', python: join(folder, 'bin/python'), roots: [], lease };

  test('gets a bounded number of modules', () => {
    const learned = new LearnedPreloads();
    for (let run = 0; run < 5; run += 1) learned.note(ref, `import ${names.join(', ')}`, 1000);
    expect(learned.of(ref)).toHaveLength(16);
  });

  test('cannot have a module tried again that could not be preloaded', () => {
    const learned = new LearnedPreloads();
    learned.note(ref, 'import module_0', 1000);
    learned.settle(ref, [{ module: 'module_0', problem: 'it leaves a thread running' }]);
    for (let run = 0; run < 30; run += 1) {
      const absent = Array.from({ length: 90 }, (_, number) => `absent_${run}_${number}`);
      learned.note(ref, `import ${absent.join(', ')}`, 1000);
    }
    expect(learned.note(ref, 'import module_0', 1000)).toEqual([]);
    expect(learned.of(ref)).toEqual([]);
  });
});
