import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Pungi } from '../../core/src/pungi.js';
import { program, programToFiles, pungi } from './pungi.js';

const folder = mkdtempSync(join(tmpdir(), 'test-files-'));
const env = { ARTIFACT_DIR: join(folder, 'artifacts') };
const runs: string[] = [];

beforeAll(async () => {
  await using server = Pungi.start({ artifactDir: env.ARTIFACT_DIR, audit: false });
  const codes = [
    'open("out.csv", "w").write("a,b\\n1,2\\n")',
    'import os; os.mkdir("d"); open("d/raw.bin", "wb").write(bytes(range(256)) * 999); open("esc\\x1b[31m", "w").write("\\x1b[2Jx")',
  ];
  for (const [index, code] of codes.entries()) {
    const { runId } = await server.run({ code }, { caller: { client: `client ${index}` } });
    runs.push(runId);
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const files = (...args: string[]) => pungi(['files', ...args], { env, cwd: folder });
const json = async (...args: string[]) => JSON.parse((await files(...args, '--json')).stdout);

describe('pungi files', () => {
  test('lists what runs of all clients left, the newest first', async () => {
    const { status, stdout, stderr } = await files();
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const rows = stdout.trimEnd().split('\n');
    expect(rows).toHaveLength(3);
    expect(rows[1]).toMatch(new RegExp(`^${runs[1]} +just now +255749 bytes  d/raw.bin, esc$`));
    expect(rows[2]).toMatch(new RegExp(`^${runs[0]} +just now +8 bytes  out.csv$`));
    expect((await json()).map(({ run }: { run: string }) => run)).toEqual(runs.toReversed());
  });
  test('lists the files of one run, by its id, the beginning of it, or as the last', async () => {
    const [first = '', second = ''] = runs;
    expect((await files(first)).stdout).toMatch(/^ *SIZE +TYPE +PATH\n8 bytes +text\/csv +out\.csv\n$/);
    expect((await files(first.slice(0, 13))).stdout).toBe((await files(first)).stdout);
    expect((await json('last')).files.map(({ path }: { path: string }) => path)).toEqual([
      'd/raw.bin',
      'esc\x1b[31m',
    ]);
    expect((await files(second)).stdout).not.toContain('\x1b');
  });
  test('get writes the bytes to standard output', async () => {
    const path = join(folder, 'got.bin');
    const args = ['files', 'get', 'last', 'd/raw.bin'];
    expect(await programToFiles(args, [path, join(folder, 'err')], { env })).toBe(0);
    expect(
      readFileSync(path).equals(
        Buffer.alloc(256 * 999, Buffer.from(Array.from({ length: 256 }, (_, i) => i))),
      ),
    ).toBe(true);
  });
  test('get -o writes to a file, and replaces one only with --force', async () => {
    const get = ['get', runs[0]!, 'out.csv', '-o', 'mine.csv'];
    expect(await files(...get)).toEqual({ status: 0, stdout: '8 bytes in mine.csv\n', stderr: '' });
    expect(readFileSync(join(folder, 'mine.csv'), 'utf8')).toBe('a,b\n1,2\n');
    expect(await files(...get)).toMatchObject({
      status: 2,
      stderr: 'pungi: mine.csv exists already; --force replaces it.\n',
    });
    expect(await files(...get, '--force')).toMatchObject({ status: 0 });
  });
  test('on a terminal a file controls nothing', async () => {
    const shown = await pungi(['files', 'get', 'last', 'esc\x1b[31m'], { env, terminal: true });
    expect(shown).toMatchObject({ status: 0, stdout: expect.stringContaining('␛[2Jx') });
    expect(await pungi(['files', 'get', 'last', 'd/raw.bin'], { env, terminal: true })).toMatchObject({
      status: 2,
      stdout: expect.stringContaining('save it with -o FILE'),
    });
  });
  test.each([
    [['nothing'], 'No files of a run "nothing" are kept'],
    [[''], 'give more of the id'],
    [['../artifacts'], 'No files of a run'],
    [['get', 'last', 'no.csv'], 'The run left no file "no.csv"; it left "d/raw.bin"'],
    [['get', 'last', '../index.json'], 'The run left no file'],
    [['get', 'last', '0'], 'The run left no file'],
    [['get', 'last'], 'see "pungi files get --help"'],
  ])('%j is one sentence and status 2', async (args, words) => {
    const { status, stdout, stderr } = await files(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^pungi: [^\n]+\n$/);
    expect(stderr).toContain(words);
  });
  test('changes nothing: what is older than this command’s ARTIFACT_HOURS stays', async () => {
    const index = join(env.ARTIFACT_DIR, runs[0]!, 'index.json');
    const kept = readFileSync(index, 'utf8');
    writeFileSync(index, JSON.stringify({ ...JSON.parse(kept), at: 0 }));
    expect((await program(['files', runs[0]!], { env: { ...env, ARTIFACT_HOURS: '1' } })).status).toBe(0);
    expect(existsSync(index)).toBe(true);
    writeFileSync(index, kept);
  });
  test('where nothing is kept, says so', async () => {
    const none = { ARTIFACT_DIR: join(folder, 'none') };
    expect(await pungi(['files'], { env: none })).toEqual({
      status: 0,
      stdout: 'No files of runs are kept.\n',
      stderr: '',
    });
    expect(existsSync(none.ARTIFACT_DIR)).toBe(false);
  });
});
