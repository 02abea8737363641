import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { expectOk, publicInterpreter } from '../engine/pungi.js';
import { openWorld } from './world.js';

/** As matplotlib keeps its list of fonts: read where it is, else made and written. */
const STAND_IN = {
  'matplotlib/__init__.py': py`
    import os

    def get_cachedir():
        folder = os.environ.get("MPLCONFIGDIR") or os.path.expanduser("~/.cache/matplotlib")
        os.makedirs(folder, exist_ok=True)
        assert os.access(folder, os.W_OK)
        return folder
  `,
  'matplotlib/font_manager.py': py`
    import os, matplotlib
    path = os.path.join(matplotlib.get_cachedir(), "fontlist-v390.json")
    IS_NEW = not os.path.exists(path)
    if IS_NEW:
        with open(path, "w") as file:
            file.write('["font"]')
    with open(path) as file:
        FONTS = file.read()
  `,
};
const HOSTILE = {
  'matplotlib/__init__.py': 'def get_cachedir(): return "/tmp"\n',
  'matplotlib/font_manager.py': py`
    import os
    print('{"../../../../escaped.json": "x", "fontlist-v1/../x.json": "x"}', flush=True)
    os._exit(0)
  `,
};

const world = await openWorld([
  { name: 'matplotlib', version: '3.0', files: STAND_IN },
  { name: 'matplotlib', version: '4.0', files: HOSTILE },
]);
// Without namespaces the sandbox's user reads environments where they are.
chmodSync(world.base, 0o755);
const python = await publicInterpreter();
const LOOK = py`
  import os, matplotlib.font_manager
  print(matplotlib.font_manager.IS_NEW, matplotlib.font_manager.FONTS, sorted(os.listdir()))
  try:
      open(matplotlib.font_manager.path, "w")
  except OSError as error:
      print(type(error).__name__)
`;

test.each(['namespace', 'landlock'])('matplotlib finds its list of fonts in every run (%s)', async (tier) => {
  const pungi = world.start({ PUNGI_TIER: tier, ...(python && { PUNGI_PYTHON: python }) });
  const venvName = `drawing-${tier}`;
  await pungi.environments.create({ venvName, packages: ['matplotlib==3.0'] });
  for (let turn = 0; turn < 2; turn += 1) {
    const outcome = await pungi.run({ code: LOOK, venvName });
    expectOk(outcome);
    const [found, written] = outcome.stdout.text.split('\n');
    expect(found).toMatch(/^False \["font"\] /);
    expect(found).not.toContain('cache');
    expect(written).toMatch(/Error$/);
    expect(outcome.stderr.text).toBe('');
  }
});

test('a package that prints other names writes nothing', async () => {
  const pungi = world.start();
  await pungi.environments.create({ venvName: 'hostile', packages: ['matplotlib==4.0'] });
  const names = readdirSync(world.base, { recursive: true, encoding: 'utf8' });
  expect(names.filter((name) => /escaped\.json|x\.json/.test(name))).toEqual([]);
  const [lists] = names.filter((name) => name.startsWith('hostile') && name.endsWith('pungi/matplotlib'));
  expect(readdirSync(join(world.base, lists!))).toEqual([]);
});
