import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installed } from '../../scripts/dependencies.mjs';

const root = resolve(import.meta.dirname, '../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'test-setup-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  status: number;
  output: string;
}
const node = (args: string[], cwd = folder): Promise<Ended> =>
  new Promise((done) => {
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) => {
      done({ status: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr });
    });
  });

describe('installed packages', () => {
  const plant = (lock: object, present?: object) => {
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...lock } }));
    if (present === undefined) return;
    mkdirSync(join(folder, 'node_modules'));
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify({ packages: present }));
  };
  const zod = { version: '4.0.0', integrity: 'sha512-a' };

  test('are up to date when they are those of the lock', () => {
    plant({ 'node_modules/zod': zod }, { 'node_modules/zod': zod });
    expect(installed(folder)).toBe(true);
  });
  test('are missing in a fresh clone', () => {
    plant({ 'node_modules/zod': zod });
    expect(installed(folder)).toBe(false);
  });
  test('are old when the lock names another version, or one more package', () => {
    plant({ 'node_modules/zod': { ...zod, version: '4.1.0' } }, { 'node_modules/zod': zod });
    expect(installed(folder)).toBe(false);
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/zod': zod, 'node_modules/pino': zod } }),
    );
    expect(installed(folder)).toBe(false);
  });
  test('may lack the packages of other systems', () => {
    plant(
      { 'node_modules/zod': zod, 'node_modules/only-mac': { ...zod, optional: true } },
      { 'node_modules/zod': zod },
    );
    expect(installed(folder)).toBe(true);
  });
});

describe('the lock', () => {
  const lockModule = pathToFileURL(join(root, 'scripts/lock.mjs')).href;
  const holder = (name: string) => `
    import { appendFileSync } from 'node:fs';
    import { withLock } from '${lockModule}';
    const note = (what) => appendFileSync('log', what + ' ${name}\\n');
    await withLock(async () => { note('in'); await new Promise((done) => setTimeout(done, 50)); note('out'); }, 'lock');`;

  test('lets one in at a time', async () => {
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => node(['--input-type=module', '-e', holder(name)])));
    const log = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    expect(log).toHaveLength(6);
    for (let i = 0; i < log.length; i += 2) expect(log[i + 1]).toBe(log[i]?.replace('in', 'out'));
    expect(existsSync(join(folder, 'lock'))).toBe(false);
  });

  test('of a process that is gone is taken over', async () => {
    const gone = await node(['-p', 'process.pid']);
    writeFileSync(join(folder, 'lock'), gone.output.trim());
    expect(await node(['--input-type=module', '-e', holder('a')])).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('in a\nout a\n');
  });
});

describe('scripts/setup.mjs', () => {
  test('tells an old Node what is needed', async () => {
    const spoof = 'data:text/javascript,Object.defineProperty(process.versions,"node",{value:"18.20.0"})';
    const { status, output } = await node(['--import', spoof, join(root, 'scripts/setup.mjs')]);
    expect(status).toBe(1);
    expect(output).toMatch(/^Pungi needs Node 20\.3 or newer.*\n$/);
  });

  test('builds a clone that has no build, is silent when all is there, and builds again after a change', async () => {
    cloneInto(folder);
    const main = join(folder, 'dist/core/src/base/version.js');
    expect(await node(['scripts/setup.mjs'])).toMatchObject({ status: 0 });
    expect(existsSync(main)).toBe(true);
    expect(await node(['scripts/setup.mjs'])).toEqual({ status: 0, output: '' });
    appendFileSync(join(folder, 'packages/core/src/base/version.ts'), '\nexport const planted = 1;\n');
    expect(await node(['scripts/setup.mjs'])).toMatchObject({ status: 0 });
    expect(readFileSync(main, 'utf8')).toContain('planted');
    rmSync(join(folder, 'packages/core/src/base/version.ts'));
    expect(await node(['scripts/setup.mjs'])).toMatchObject({
      status: 1,
      output: expect.stringContaining('version'),
    });
    // Three builds.
  }, 300_000);
});

/** What git would clone, with the packages that are installed here. */
function cloneInto(target: string): void {
  const names = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
  });
  for (const name of names.toString().split('\0')) {
    if (name === '' || !existsSync(join(root, name)) || /^(tests|bench|docs)\//.test(name)) continue;
    mkdirSync(dirname(join(target, name)), { recursive: true });
    cpSync(join(root, name), join(target, name));
  }
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
}
