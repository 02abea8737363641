import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** What git would commit: tracked files, and new ones that it does not ignore. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
  cwd: root,
})
  .toString()
  .split('\0')
  .filter((name) => name !== '' && existsSync(resolve(root, name)));

const offenders = (pattern: RegExp, among = files) =>
  among.filter((name) => pattern.test(readFileSync(resolve(root, name), 'utf8')));

test('no file names the folder or the home on the machine it was written on', () => {
  expect(files.length).toBeGreaterThan(20);
  const places = [root, homedir()].filter((place) => place.split('/').length > 2);
  // Spelled in pieces, or this file would name them itself.
  const patterns = [...places.map((place) => place.replaceAll('.', '\\.')), `/${'work'}/(main|shared)`];
  // A path ends there or goes on below; the sandbox's own work folder may hold a main.py.
  expect(offenders(new RegExp(`(?:${patterns.join('|')})(?![\\w.-])`))).toEqual([]);
});

test('lock files name no registry', () => {
  const locks = files.filter((name) => name.endsWith('package-lock.json'));
  expect(locks).toContain('package-lock.json');
  expect(offenders(/"resolved": "(?!packages\/)/, locks)).toEqual([]);
  expect(
    offenders(
      /^\s*registry\s*=/m,
      files.filter((name) => name.endsWith('.npmrc')),
    ),
  ).toEqual([]);
});

test('a table of the documentation has one line below its head: a second one is a row that was lost', () => {
  const pages = files.filter((name) => name.endsWith('.md'));
  expect(offenders(/^\|[ |:-]+\|\n\|[ |:-]+\|$/m, pages)).toEqual([]);
});

test('dependencies are pinned to exact versions', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  }
});

test('the lock names the packages of every system, without which npm ci refuses it', () => {
  const { packages } = JSON.parse(readFileSync(resolve(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { optionalDependencies?: Record<string, string> }>;
  };
  const missing = Object.entries(packages).flatMap(([where, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${where}/node_modules/${name}` in packages),
    ),
  );
  expect(missing, 'node scripts/complete-lock.mjs adds them').toEqual([]);
});
