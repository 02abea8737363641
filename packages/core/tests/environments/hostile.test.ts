import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PACKAGES, type TestPackage } from '../../../../tests/support/package-index.js';
import { py } from '../../../../tests/support/python.js';
import { printed, temporaryFolder, verdictOf } from '../engine/pungi.js';
import { openWorld, refusal } from './world.js';

/** Replaces the compiler of the worker that it is loaded into. */
const POISON = py`
  import sys
  script = sys.modules.get("pungi.run.script")
  if script is not None:
      original = script.compile_source
      script.compile_source = lambda source, name: original("print('POISONED')", name)
`;

const HOSTILE: TestPackage[] = [
  { name: 'lockbringer', version: '1.0', files: { 'lockbringer-1.0.data/data/pungi.lock': '# nothing\n' } },
  { name: 'ghost', version: '1.0', files: { 'ghost.py': '', 'other-1.dist-info/METADATA': 'Name: other\n' } },
  {
    name: 'poison',
    version: '1.0',
    files: { 'poison_start.py': POISON, 'poison.pth': 'import poison_start\n' },
  },
  { name: 'Mixed_Case', version: '1.0', files: { 'mixed_case.py': '' } },
];
const world = await openWorld([...PACKAGES, ...HOSTILE]);
const pungi = world.start();
const { environments } = pungi;

describe('a hostile wheel', () => {
  test('cannot change what another environment is filled with', async () => {
    await environments.create({ venvName: 'one', packages: ['lockbringer', 'banana'] });
    const before = await environments.export('one');
    await environments.create({ venvName: 'two', packages: ['lockbringer'] });
    expect(await environments.export('one')).toBe(before);
    expect(before).toContain('banana==1.0');
  });

  test('with half a package beside its own does not damage the environment', async () => {
    await environments.create({ venvName: 'haunted', packages: ['apple'] });
    await environments.install('haunted', ['ghost']).catch(() => {});
    expect(await environments.show('haunted')).toMatchObject({ state: 'ready' });
    expect(await printed(pungi, { code: 'import apple; print("whole")', venvName: 'haunted' })).toBe(
      'whole\n',
    );
  });

  test('that changes how scripts are compiled does so for its own environment alone', async () => {
    await environments.create({ venvName: 'evil', packages: ['poison'] });
    await environments.create({ venvName: 'good' });
    const script = await pungi.precompile('print("as written")');
    await pungi.run({ code: '1', venvName: 'good' });
    await pungi.runCompiled(script, { venvName: 'evil' });
    for (const venvName of ['good', undefined]) {
      const { stdout } = await pungi.runCompiled(script, venvName === undefined ? {} : { venvName });
      expect(stdout.text).toBe('as written\n');
    }
  });

  test('brings no path of one environment into the bytecode of another', async () => {
    await environments.create({ venvName: 'secret-name', packages: ['many'] });
    await environments.create({ venvName: 'curious', packages: ['many'] });
    const code =
      'import many, pathlib; print(any(b"secret-name" in p.read_bytes() for p in pathlib.Path(many.__file__).parent.rglob("*.pyc")))';
    expect(await printed(pungi, { code, venvName: 'curious' })).toBe('False\n');
  });
});

describe('a hostile lock file', () => {
  const pin = (line: string) => `# pungi: {"requested":["apple"]}\n${line} --hash=sha256:${'0'.repeat(64)}\n`;

  test.each(['x @ http://127.0.0.1:9/x-1.0-py3-none-any.whl', 'x @ file:///tmp/x-1.0-py3-none-any.whl'])(
    'does not bring in what the configuration does not allow: %s',
    async (line) => {
      const error = await refusal(environments.import({ venvName: 'locked', lock: pin(line) }));
      expect(error.code).toBe('INVALID_INPUT');
    },
  );

  test('of many lines is read in no time', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `p${n}==1 --hash=sha256:${'0'.repeat(64)}`);
    const error = await refusal(
      environments.import({ venvName: 'locked', lock: [...lines, 'P0==1'].join('\n') }),
    );
    expect(error.message).toContain('has no hash');
  });
});

describe('a folder that others can write to', () => {
  test.each([0o777, 0o1777, 0o775])('with mode %o is not run from', async (mode) => {
    const base = temporaryFolder();
    const planted = join(base, 'ml', 'g1', 'bin');
    mkdirSync(planted, { recursive: true });
    mkdirSync(join(base, 'ml', 'g1', 'lib'));
    writeFileSync(join(planted, 'python'), `#!/bin/sh\ntouch ${base}/ran\n`, { mode: 0o755 });
    const known = JSON.parse(readFileSync(join(world.base, 'one', 'pungi.json'), 'utf8')) as object;
    writeFileSync(join(base, 'ml', 'pungi.json'), JSON.stringify({ ...known, name: 'ml', generation: 'g1' }));
    chmodSync(base, mode);
    const own = world.start({ VENVS_BASE_PATH: base });
    const { verdict } = await own.run({ code: '1', venvName: 'ml' });
    expect(verdict).toMatchObject({ message: expect.stringContaining('can be changed by other users') });
    expect((await refusal(own.environments.create({ venvName: 'x' }))).code).toBe('CONFIGURATION_ERROR');
    expect(existsSync(join(base, 'ran'))).toBe(false);
  });

  test('the locks are nobody else’s', () => {
    expect(statSync(join(world.base, '.locks')).mode & 0o777).toBe(0o700);
  });

  test('a folder that cannot be made is said to be so', async () => {
    const nowhere = world.start({ VENVS_BASE_PATH: '/proc/environments' });
    const error = await refusal(nowhere.environments.create({ venvName: 'x' }));
    expect(error).toMatchObject({
      code: 'CONFIGURATION_ERROR',
      message: expect.stringContaining('VENVS_BASE_PATH'),
    });
  });
});

describe('what comes in the way of others', () => {
  test('clones in opposite directions to names in other letters end', async () => {
    await environments.create({ venvName: 'aa' });
    await environments.create({ venvName: 'bb' });
    const both = [
      refusal(environments.clone({ from: 'aa', to: 'BB' })),
      refusal(environments.clone({ from: 'bb', to: 'AA' })),
    ];
    for (const { code } of await Promise.all(both)) expect(code).toBe('ENVIRONMENT_EXISTS');
  });

  test('two cleanings at once do not disturb each other', async () => {
    await environments.create({ venvName: 'broken' });
    writeFileSync(join(world.base, 'broken', 'pungi.json'), '{');
    const reports = await Promise.all([environments.clean(), world.start().environments.clean()]);
    expect(reports.flatMap(({ removed }) => removed.map(({ venvName }) => venvName))).toEqual(['broken']);
  });

  test('what a killed process had begun is swept up', async () => {
    mkdirSync(join(world.base, '.making', 'never.0123'));
    await environments.clean();
    expect(readdirSync(join(world.base, '.making'))).toEqual([]);
  });

  test('an environment of a newer version is neither run nor cleaned away', async () => {
    await environments.create({ venvName: 'future' });
    const file = join(world.base, 'future', 'pungi.json');
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), format: 2 }));
    expect(await environments.show('future')).toMatchObject({ state: 'unreadable' });
    await environments.clean();
    expect(existsSync(file)).toBe(true);
  });

  test('more environments than allowed are not made, however many ask at once', async () => {
    const base = temporaryFolder();
    const few = world.start({ VENVS_BASE_PATH: base, MAX_ENVIRONMENTS: '3' });
    const wanted = Array.from({ length: 6 }, (_, n) => few.environments.create({ venvName: `e${n}` }));
    const results = await Promise.allSettled(wanted);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test('environments of scripts are not changed by hand, and a damaged one is made anew', async () => {
    const script =
      '# /// script\n# dependencies = ["apple<2"]\n# ///\nimport apple; print(apple.__version__)';
    const { environment, stdout } = await pungi.run({ code: script });
    expect(stdout.text).toBe('1.1\n');
    expect((await refusal(environments.install(environment!, ['apple==1.0']))).code).toBe('INVALID_INPUT');
    writeFileSync(join(world.base, environment!, 'pungi.json'), '{');
    expect(await printed(pungi, { code: script })).toBe('1.1\n');
  });

  test('a package is removed by the name that it has', async () => {
    await environments.create({ venvName: 'mixed', packages: ['Mixed_Case'] });
    const { removed } = await environments.uninstall('mixed', ['Mixed_Case']);
    expect(removed).toEqual([{ name: 'Mixed_Case', version: '1.0' }]);
  });

  test('an installation that changes nothing makes nothing', async () => {
    await environments.create({ venvName: 'same', packages: ['apple'] });
    const { path } = await environments.show('same');
    const report = await environments.install('same', ['apple']);
    expect(report.packages[0]).toMatchObject({ status: 'unchanged' });
    expect((await environments.show('same')).path).toBe(path);
  });

  test('the password of an address is not kept', async () => {
    const open = world.start({ PACKAGE_SOURCES: 'url' });
    const error = await refusal(
      open.environments.install('same', ['x @ https://user:geheim@example.org/x-1.0-py3-none-any.whl']),
    );
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.message).not.toContain('geheim');
  });

  test('a Python that no system has ends with a verdict, also for who listens to the output', async () => {
    process.env['UV_PYTHON_INSTALL_MIRROR'] = 'http://127.0.0.1:9/';
    const code = '# /// script\n# requires-python = ">=3.99"\n# ///\nprint(1)';
    const outcome = await pungi.run({ code }, { onLine: () => {}, onStep: () => {} });
    expect(verdictOf(outcome, 'unavailable').message).toContain('3.99');
  });
});
