import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findInterpreter, type Interpreter, listInterpreters } from '../../src/sandbox/interpreter.js';

const real = await findInterpreter();
let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'pungi-interpreters-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A program that answers what an interpreter would. */
function pretend(path: string, { version = '3.99.0', build = 'cpython', level = 'final' } = {}): string {
  return script(path, `printf '%s\\n' "$0" "${version}" "${build} ${level}"`);
}

function script(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** What is found in the folders of the test; those of the machine are always looked at. */
async function listed(env: Record<string, string> = {}): Promise<Interpreter[]> {
  const all = await listInterpreters({ env: { HOME: base, PATH: join(base, 'bin'), ...env } });
  return all.filter(({ path }) => path.startsWith(base));
}
const paths = async (env?: Record<string, string>) => (await listed(env)).map(({ path }) => path);

describe('the interpreters of a machine', () => {
  test('have the one that runs Pungi among them, each once', async () => {
    const all = await listInterpreters();
    const keys = all.map(({ path, version }) => `${version} ${realpathSync(path)}`);
    expect(keys).toContain(`${real.version} ${realpathSync(real.path)}`);
    expect(new Set(keys).size).toBe(keys.length);
    expect(Object.keys(all[0]!).sort()).toEqual(['path', 'version']);
  });

  test('are found on PATH, and where pyenv and uv keep them', async () => {
    const expected = [
      pretend(join(base, '.local/share/uv/python/cpython-3.97.1-linux/bin/python3.97'), {
        version: '3.97.1',
      }),
      pretend(join(base, '.pyenv/versions/3.96.2/bin/python'), { version: '3.96.2' }),
      pretend(join(base, 'bin/python3.95'), { version: '3.95.10' }),
      pretend(join(base, 'bin/python3'), { version: '3.95.9' }),
    ];
    expect(await listed()).toEqual(
      expected.map((path, index) => ({ path, version: ['3.97.1', '3.96.2', '3.95.10', '3.95.9'][index] })),
    );
  });

  test('are found where pyenv and uv were told to keep them', async () => {
    const pyenv = pretend(join(base, 'p/versions/x/bin/python'));
    const uv = pretend(join(base, 'u/x/bin/python3'));
    const shared = pretend(join(base, 'd/uv/python/x/bin/python3'));
    expect(await paths({ PYENV_ROOT: join(base, 'p'), UV_PYTHON_INSTALL_DIR: join(base, 'u') })).toEqual([
      pyenv,
      uv,
    ]);
    expect(await paths({ XDG_DATA_HOME: join(base, 'd') })).toEqual([shared]);
  });

  test('leave out what does not run, is too old or is not plain CPython', async () => {
    const bin = join(base, 'bin');
    script(join(bin, 'python3.90'), 'exit 127');
    script(join(bin, 'python3.91'), 'echo nonsense');
    script(join(bin, 'python3.92'), 'kill -9 $$');
    symlinkSync(join(base, 'nowhere'), join(bin, 'python3.93'));
    mkdirSync(join(bin, 'python3.94'));
    writeFileSync(join(bin, 'python3.95'), 'not executable');
    pretend(join(bin, 'python3.9'), { version: '3.9.18' });
    pretend(join(bin, 'python3.96'), { build: 'pypy' });
    pretend(join(bin, 'python3.97'), { build: 'cpythont' });
    pretend(join(bin, 'python3-config'));
    pretend(join(bin, 'python3.98-dbg'));
    const good = pretend(join(bin, 'python3.98'), { version: '3.98.0' });
    expect(await paths()).toEqual([good]);
  });

  test('have those that are not released yet at their end', async () => {
    pretend(join(base, 'bin/python3.99'), { version: '3.99.0', level: 'alpha' });
    pretend(join(base, 'bin/python3.98'), { version: '3.98.1' });
    expect((await listed()).map(({ version }) => version)).toEqual(['3.98.1', '3.99.0']);
  });

  test('are asked by the name that tells their version', async () => {
    const named = pretend(join(base, 'bin/python3.98'));
    symlinkSync(named, join(base, 'bin/python3'));
    symlinkSync(named, join(base, 'bin/python'));
    expect(await paths()).toEqual([named]);
  });

  test('are not the shims of pyenv, nor virtual environments', async () => {
    script(join(base, '.pyenv/shims/python3'), `touch ${join(base, 'asked')}; exit 1`);
    const below = pretend(join(base, 'opt/bin/python3.98'));
    mkdirSync(join(base, 'venv/bin'), { recursive: true });
    writeFileSync(join(base, 'venv/pyvenv.cfg'), 'home = x\n');
    symlinkSync(below, join(base, 'venv/bin/python'));
    pretend(join(base, 'venv/bin/python3.97'), { version: '3.97.0' });
    const path = ['.pyenv/shims', 'venv/bin'].map((folder) => join(base, folder)).join(':');
    expect(await paths({ PATH: path })).toEqual([below]);
    expect(() => realpathSync(join(base, 'asked'))).toThrow(/ENOENT/);
  });

  test('are no longer asked once that is cancelled', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(listInterpreters({ signal: controller.signal })).rejects.toBe(reason);
  });
});
