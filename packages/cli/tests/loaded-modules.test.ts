import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { start } from './pungi.js';

const LIST_MODULES = resolve(import.meta.dirname, 'fixtures/list-modules.cjs');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-loaded-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a run without packages loads nothing that installs them', async () => {
  const list = join(folder, 'modules');
  const env = { NODE_OPTIONS: `--require=${LIST_MODULES}`, LOADED_MODULES: list };
  const { ended } = start(['run', '-c', 'print(1)'], { env });
  expect(await ended).toEqual({ status: 0, stdout: '1\n', stderr: '' });
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded).toContain('NativeModule child_process');
  expect(loaded.filter((name) => /^NativeModule (https?|tls|zlib)$/.test(name))).toEqual([]);
});
