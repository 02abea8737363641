import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Outcome } from '../../core/src/contract/outcome.js';
import { openWorld } from './environments.js';

const world = await openWorld();
const run = (args: string[], env = {}) => world.run(['run', ...args], { env, cwd: folder });
const folder = mkdtempSync(join(tmpdir(), 'test-run-env-'));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  await world.json(['create', 'old', 'apple==1.0']);
  await world.json(['create', 'new', 'apple==2.0']);
});

const VERSION = 'import apple; print(apple.__version__)';

describe('pungi run --env', () => {
  test.each([
    ['old', '1.0'],
    ['new', '2.0'],
  ])('runs in the environment %s, and says nothing of it', async (name, version) => {
    expect(await run(['--env', name, '-c', VERSION])).toEqual({
      status: 0,
      stdout: `${version}\n`,
      stderr: '',
    });
  });
  test('is named in the outcome', async () => {
    const { stdout } = await run(['--env', 'old', '--json', '-c', VERSION]);
    const outcome = Outcome.parse(JSON.parse(stdout));
    expect(outcome).toMatchObject({ environment: 'old', usage: { installMs: 0 } });
  });
  test('that does not exist is one sentence and status 66', async () => {
    const { status, stdout, stderr } = await run(['--env', 'missing', '-c', '1']);
    expect({ status, stdout }).toEqual({ status: 66, stdout: '' });
    expect(stderr).toMatch(
      /^pungi: There is no environment "missing"[^\n]*pungi env create missing[^\n]*\n$/,
    );
    expect((await run(['--env', '../x', '-c', '1'])).status).toBe(2);
  });
  test('names the command that installs what is missing', async () => {
    const { status, stderr } = await run(['--env', 'old', '-c', 'import cv2']);
    expect(status).toBe(1);
    expect(stderr).toContain('pungi env install old opencv-python');
  });
});

describe('a script that names its packages', () => {
  const script = (dependency: string, code: string) => {
    const file = `${dependency.replace(/\W/g, '_')}.py`;
    writeFileSync(join(folder, file), `# /// script\n# dependencies = ["${dependency}"]\n# ///\n${code}\n`);
    return file;
  };

  test('just works; the steps are lines on standard error, at the first run only', async () => {
    const file = script('banana', VERSION);
    const first = await run([file]);
    expect(first).toMatchObject({ status: 0, stdout: '2.0\n' });
    expect(first.stderr).toMatch(/^(pungi: [^\n]+\n)+$/);
    expect(await run([file])).toEqual({ status: 0, stdout: '2.0\n', stderr: '' });
  });
  test('with --json tells the time of the installation apart, and nothing on standard error', async () => {
    const file = script('cherry', VERSION);
    const { status, stdout, stderr } = await run(['--json', file]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { usage, environment } = Outcome.parse(JSON.parse(stdout));
    expect(usage.installMs).toBeGreaterThan(0);
    expect(environment).toMatch(/^inline-/);
  });
  test('that cannot be had: the resolver’s words, and status 76', async () => {
    const { status, stdout, stderr } = await run([script('nosuchpackage', 'print(1)')]);
    expect({ status, stdout }).toEqual({ status: 76, stdout: '' });
    expect(stderr).toContain('nosuchpackage');
    expect(stderr).toMatch(/\npungi: [^\n]+\n$/);
  });
});

describe('pungi run --with', () => {
  const both = 'import apple, banana; print(apple.__version__, banana.__version__)';

  test.each([
    ['given once each', ['--with', 'apple==1.1', '--with', 'banana']],
    ['with commas', ['--with', 'banana, apple>=1,<2']],
  ])('runs with the packages, %s', async (_, options) => {
    expect(await run([...options, '-c', both])).toMatchObject({ status: 0, stdout: '1.1 1.0\n' });
    expect(await run([...options, '-c', both])).toEqual({ status: 0, stdout: '1.1 1.0\n', stderr: '' });
  });
  test('adds to the packages that a script names', async () => {
    const block = '# /// script\n# dependencies = ["apple==1.1"]\n# ///\n';
    writeFileSync(join(folder, 'with.py'), `${block}${both}\n`);
    expect(await run(['--with', 'banana', 'with.py'])).toMatchObject({ status: 0, stdout: '1.1 1.0\n' });
    const { status, stderr } = await run(['--with', 'apple==2.0', 'with.py']);
    expect(status).toBe(2);
    expect(stderr).toBe(
      'pungi: The packages are not valid: "apple==1.1" and "apple==2.0" are about one package; give one of them.\n',
    );
  });
  test.each([
    [['--with', 'pandas=='], 'has no version after'],
    [['--with', ''], 'give the name of a package'],
    [['--with', '--index-url=http://evil.example'], 'is an option'],
    [['--with', 'apple', '--env', 'old'], '--env'],
    [['--with', 'apple', '--profile', 'diego'], 'Name no packages, or another profile'],
  ])('%j is one sentence', async (options, words) => {
    const { status, stdout, stderr } = await run([...options, '-c', '1']);
    expect([2, 77]).toContain(status);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
    expect(stderr).toContain(words);
  });
  test('a package that does not exist: the resolver’s words, and status 76', async () => {
    const { status, stderr } = await run(['--with', 'nosuchpackage', '-c', '1']);
    expect(status).toBe(76);
    expect(stderr).toContain('nosuchpackage');
  });
});

test('AUTO_INSTALL installs what an import does not find, and runs once more', async () => {
  await world.json(['create', 'auto']);
  const code = 'print("first"); import cv2; print(cv2.__version__); print("no end", end="")';
  const { status, stdout, stderr } = await run(['--env', 'auto', '--auto-install', '-c', code]);
  // Both runs have written, and all that they wrote is shown.
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'first\nfirst\n9.0\nno end' });
  expect(stderr).toContain('pungi: Installing opencv-python into the environment "auto" (AUTO_INSTALL).\n');
});
