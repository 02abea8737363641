import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolders, writeAtomically } from '../../src/base/files.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-atomic-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is replaced whole, with its mode whatever the umask, and no draft is left', () => {
  const path = join(folder, 'file');
  writeFileSync(path, 'old');
  const before = process.umask(0o077);
  try {
    writeAtomically(path, 'new', { mode: 0o644, isDurable: true });
  } finally {
    process.umask(before);
  }
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o644);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('a link of that name is replaced, and what it leads to stays as it is', () => {
  writeFileSync(join(folder, 'other'), 'other');
  symlinkSync('other', join(folder, 'file'));
  writeAtomically(join(folder, 'file'), 'new');
  expect(readFileSync(join(folder, 'other'), 'utf8')).toBe('other');
  expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('new');
});

test('a new file does not replace one that is there, and no draft is left', () => {
  const path = join(folder, 'file');
  writeAtomically(path, 'first', { isNew: true });
  expect(() => writeAtomically(path, 'second', { isNew: true })).toThrow(/EEXIST/);
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(readdirSync(folder)).toEqual(['file']);
});

test('folders are made with those above them, or it is an error: also where nothing can be made', () => {
  const deep = join(folder, 'a', 'b');
  makeFolders(deep, 0o700);
  makeFolders(deep);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
  writeFileSync(join(deep, 'file'), '');
  expect(() => makeFolders(join(deep, 'file'))).toThrow('EEXIST');
  expect(() => makeFolders(join(deep, 'file', 'c'))).toThrow('ENOTDIR');
  if (process.platform === 'linux') expect(() => makeFolders('/proc/nowhere/below')).toThrow('ENOENT');
});
