import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import { FolderWatch } from '../src/tools-folder/watch.js';

const NEVER_MS = 2 ** 31 - 1;
const base = temporaryFolder();
let watch: FolderWatch | undefined;
afterEach(() => watch?.close());

test('a change is told without a regular look, and many at once are told together', async () => {
  let told = 0;
  watch = new FolderWatch(() => {
    told += 1;
  }, NEVER_MS);
  expect(watch.follow([base])).toBe(true);
  for (let index = 0; index < 50; index += 1) writeFileSync(join(base, `${index}.py`), '');
  await until(() => told > 0, 'the change is told');
  expect(told).toBeLessThan(5);
});

test('a folder that was replaced is followed again, and one that is not there is no trouble', async () => {
  const folder = join(base, 'inner');
  mkdirSync(folder);
  let told = 0;
  watch = new FolderWatch(() => {
    told += 1;
  }, NEVER_MS);
  expect(watch.follow([folder, join(base, 'nowhere')])).toBe(false);
  rmSync(folder, { recursive: true });
  await until(() => told > 0, 'the end of the folder is told');
  mkdirSync(folder);
  const before = told;
  // The next look, whatever brings it about, names the folders anew.
  watch.follow([folder]);
  await until(() => {
    writeFileSync(join(folder, 'a.py'), String(Math.random()));
    return told > before;
  }, 'a change in the new folder is told');
});

test('where the system tells nothing, there are regular looks', async () => {
  let told = 0;
  watch = new FolderWatch(() => {
    told += 1;
  }, 1);
  await until(() => told > 2, 'a few looks');
});
