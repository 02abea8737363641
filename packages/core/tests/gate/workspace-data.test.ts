import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listWorkspace } from '../../src/gate/workspace-data.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-data-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text = 'x') => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const list = () => listWorkspace([{ name: 'd', path: folder }]);
const pathsIn = async () => (await list()).files.map(({ path }) => path);

describe('the data of a profile', () => {
  test('is listed by name, by where code finds it, by size and by kind, in order', async () => {
    for (const name of [
      'b.XLSX',
      'a.csv',
      'sub/c.parquet',
      'sub/deeper/d.json',
      'e.tsv',
      'f.txt',
      'g.jsonl',
      'h',
    ])
      write(name, 'four');
    expect(
      (await list()).files.map(({ name, path, bytes, kind }) => `${name} ${path} ${bytes} ${kind}`),
    ).toEqual([
      'a.csv data/d/a.csv 4 csv',
      'b.XLSX data/d/b.XLSX 4 excel',
      'e.tsv data/d/e.tsv 4 csv',
      'f.txt data/d/f.txt 4 other',
      'g.jsonl data/d/g.jsonl 4 json',
      'h data/d/h 4 other',
      'c.parquet data/d/sub/c.parquet 4 parquet',
      'd.json data/d/sub/deeper/d.json 4 json',
    ]);
  });

  test('does not follow links, out of the folder or in a circle', async () => {
    write('a.csv');
    symlinkSync('/etc/passwd', join(folder, 'passwd'));
    symlinkSync('/etc', join(folder, 'etc'));
    symlinkSync('.', join(folder, 'again'));
    symlinkSync('nowhere', join(folder, 'broken'));
    expect(await pathsIn()).toEqual(['data/d/a.csv']);
  });

  test.each([
    ['a link', (to: string) => symlinkSync(to, join(folder, 'current'))],
    ['a link further down', (to: string) => symlinkSync(to, join(folder, 'sub/current'))],
  ])('is known to have changed when %s leads elsewhere', async (_, link) => {
    for (const name of ['a.csv', 'b.csv', 'sub/c.csv']) write(name);
    const before = await list();
    link('a.csv');
    const first = await list();
    expect(first.files).toEqual(before.files);
    expect(first.fingerprint).not.toEqual(before.fingerprint);
    for (const path of ['current', 'sub/current']) rmSync(join(folder, path), { force: true });
    link('b.csv');
    const second = await list();
    expect(second.files).toEqual(first.files);
    expect(second.fingerprint).not.toEqual(first.fingerprint);
    expect((await list()).fingerprint).toEqual(second.fingerprint);
  });

  test('is known to have changed when an empty folder comes', async () => {
    const { fingerprint } = await list();
    mkdirSync(join(folder, 'new'));
    expect((await list()).fingerprint).not.toEqual(fingerprint);
  });

  test('with a pipe in it may be something else at every look', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await list()).toEqual({ files: [], fingerprint: null });
  });

  test('may lie behind a link that the owner named', async () => {
    write('real/a.csv');
    symlinkSync('real', join(folder, 'link'));
    const { files } = await listWorkspace([{ name: 'd', path: join(folder, 'link') }]);
    expect(files.map(({ path }) => path)).toEqual(['data/d/a.csv']);
  });

  test('is at most a thousand files, and then nobody knows whether it changed', async () => {
    for (let index = 0; index < 1000; index += 1) write(`${index}.csv`);
    expect(await list()).toMatchObject({ files: { length: 1000 }, fingerprint: { length: 1000 } });
    write('more.csv');
    const { files, fingerprint } = await list();
    expect(files).toHaveLength(1000);
    expect(fingerprint).toBeNull();
  });

  test('is listed down to some depth', async () => {
    write(`${'a/'.repeat(8)}in.csv`);
    write(`${'a/'.repeat(9)}out.csv`);
    const { files, fingerprint } = await list();
    expect(files.map(({ name }) => name)).toEqual(['in.csv']);
    expect(fingerprint).toBeNull();
  });

  test('that is missing, or no folder, is no data and no failure', async () => {
    write('a.csv');
    for (const path of ['none', 'a.csv']) {
      const listed = await listWorkspace([{ name: 'd', path: join(folder, path) }]);
      expect(listed).toEqual({ files: [], fingerprint: null });
    }
  });

  test.skipIf(process.getuid?.() === 0)('that cannot be read is left out', async () => {
    write('a.csv');
    write('closed/b.csv');
    chmodSync(join(folder, 'closed'), 0);
    try {
      expect(await pathsIn()).toEqual(['data/d/a.csv']);
    } finally {
      chmodSync(join(folder, 'closed'), 0o700);
    }
  });

  test('has a fingerprint that changes with name, size and time, and with nothing else', async () => {
    const at = new Date(1_700_000_000_000);
    write('a.csv', 'one');
    utimesSync(join(folder, 'a.csv'), at, at);
    const seen = new Set<string>();
    const look = async () => seen.add(JSON.stringify((await list()).fingerprint)).size;
    expect(await look()).toBe(1);
    expect(await look()).toBe(1);
    write('a.csv', 'two!');
    expect(await look()).toBe(2);
    utimesSync(join(folder, 'a.csv'), at, at); // an old time does not hide that it was written
    expect(await look()).toBe(3);
    write('b.csv');
    expect(await look()).toBe(4);
  });
});
