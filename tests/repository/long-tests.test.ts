import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { LONG } from '../support/long-tests.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** Every test of a package, as its path without the ending. */
const TESTS = readdirSync(join(ROOT, 'packages'))
  .map((name) => `packages/${name}/tests`)
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap((folder) => filesBelow(folder));

function filesBelow(folder: string): string[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name.slice(0, -'.test.ts'.length)}`);
}

test('every test that is left to "npm run test:all" is there', () => {
  const known = [
    ...TESTS,
    ...['docs', 'examples', 'repository'].flatMap((name) => filesBelow(`tests/${name}`)),
  ];
  const named = LONG.filter((name) => !name.endsWith('*'));
  expect(named.filter((name) => !known.includes(name))).toEqual([]);
  expect([...new Set(named)]).toEqual(named);
});

test('of every folder of tests "npm test" runs some', () => {
  const short = TESTS.filter((name) => !LONG.includes(name));
  const folders = (names: string[]) => [...new Set(names.map((name) => dirname(name)))].sort();
  expect(folders(short)).toEqual(folders(TESTS));
});
