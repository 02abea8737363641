import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { program } from './pungi.js';

const RUN = join(dirname(MAIN), 'run.cjs');
const OK = { status: 0, stdout: '2\n', stderr: '' };

/** Coverage is measured without compiled code. */
const NOT_COVERED = { NODE_V8_COVERAGE: '' };

let cache: string;
const folder = () => join(cache, 'pungi/bytecode');
const run = (...args: string[]) =>
  program(['run', ...args, '-c', 'print(1 + 1)'], { env: { XDG_CACHE_HOME: cache, ...NOT_COVERED } });
const kept = () => readdirSync(folder()).filter((name) => name.endsWith('.v8'));
const file = () => join(folder(), kept()[0]!);

/** Each test has its own copy of what a first run kept. */
let first: { name: string; content: Buffer };
beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), 'pungi-compiled-'));
  expect(await run()).toEqual(OK);
  first = { name: kept()[0]!, content: readFileSync(file()) };
});
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'pungi-compiled-'));
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
  keep(first.content);
});
const keep = (content: Buffer) => writeFileSync(join(folder(), first.name), content, { mode: 0o600 });

describe.runIf(process.getuid !== undefined)('the compiled code of pungi run', () => {
  test('is kept where only the user can write, and used again', async () => {
    rmSync(cache, { recursive: true });
    expect(await run()).toEqual(OK);
    expect([folder(), file()].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
    const before = statSync(file());
    expect(await run()).toEqual(OK);
    expect(statSync(file())).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  test('is not kept by a command that has shown its help', async () => {
    rmSync(file());
    expect(await run('--help')).toMatchObject({ status: 0 });
    expect(kept()).toEqual([]);
  });

  test('is replaced if it is damaged, and of another content of the file', async () => {
    writeFileSync(file(), 'garbage');
    const old = first.name.replace(/-[^-]*\.v8$/, '-1.v8');
    writeFileSync(join(folder(), old), 'of an earlier build');
    expect(await run()).toEqual(OK);
    expect(kept()).toEqual([first.name]);
    expect(statSync(file()).size).toBeGreaterThan(100_000);
  });

  test('is not missed where it cannot be kept', async () => {
    rmSync(folder(), { recursive: true });
    writeFileSync(folder(), '');
    expect(await run()).toEqual(OK);
    cache = '/proc/there/is/none';
    expect(await run()).toEqual(OK);
  });
});

describe.runIf(process.getuid !== undefined)('planted code', () => {
  beforeEach(() => keep(planted()));

  test('would run, if the user had written it', async () => {
    expect(await run()).toEqual({ status: 0, stdout: 'planted', stderr: '' });
  });

  test.each<[string, () => void]>([
    ['that others may write to', () => chmodSync(file(), 0o622)],
    ['in a folder that others may write to', () => chmodSync(folder(), 0o777)],
    ['behind a link', linked],
    ['that is a folder', replacedByFolder],
  ])('%s is not run', async (_, plant) => {
    plant();
    expect(await run()).toEqual(OK);
  });

  test.runIf(process.getuid?.() === 0).each<[string, () => void]>([
    ['a file', () => chownSync(file(), 12345, 12345)],
    ['a folder', () => chownSync(folder(), 12345, 12345)],
  ])('in %s of another user is not run', async (_, plant) => {
    plant();
    expect(await run()).toEqual(OK);
  });
});

/** V8 only compares the length of the source with that of the code. */
function planted(): Buffer {
  const wrapped = (body: string) =>
    `(function (exports, require, module, __filename, __dirname) {${body}\n})`;
  const body = 'process.stdout.write("planted");process.exit()';
  const script = new Script(wrapped(body.padEnd(statSync(RUN).size, ' ')));
  return script.createCachedData();
}

function linked(): void {
  const elsewhere = join(cache, 'elsewhere');
  renameSync(file(), elsewhere);
  symlinkSync(elsewhere, join(folder(), first.name));
}

function replacedByFolder(): void {
  rmSync(file());
  mkdirSync(join(folder(), first.name));
}
