import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const CHECK = resolve(import.meta.dirname, '../../scripts/check-imports.mjs');

let house: string;
beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'test-house-'));
});
afterEach(() => rmSync(house, { recursive: true }));

function plant(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(house, name)), { recursive: true });
    writeFileSync(join(house, name), text);
  }
}

function check(folder = house): Promise<{ failed: boolean; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [CHECK, folder], (error, stdout, stderr) => {
      done({ failed: error !== null, output: stdout + stderr });
    });
  });
}

test('imports of lower folders pass, and are counted', async () => {
  plant({
    'src/main.ts': "import './engine/run.js';",
    'src/engine/run.ts': "import type { Code } from '../base/errors.js';\nexport type Run = Code;",
    'src/base/errors.ts': 'export type Code = string;',
    'src/sandbox/spawn.ts': "import 'node:child_process';",
  });
  expect(await check()).toEqual({ failed: false, output: expect.stringContaining('4 modules, 3 imports') });
});

test.each([
  ['an import of a higher folder', 'src/base/bad.ts', "import '../engine/x.js';", 'base-imports-only-below'],
  [
    'a type from a higher folder',
    'src/contract/bad.ts',
    "import type { X } from '../engine/x.js';",
    'contract-imports',
  ],
  [
    'a lazy import of a higher folder',
    'src/runtime/bad.ts',
    "await import('../engine/x.js');",
    'runtime-imports',
  ],
  [
    'a re-export of a higher folder',
    'src/gate/bad.ts',
    "export * from '../cli/x.js';",
    'gate-imports-only-below',
  ],
  [
    'an import of the facade from below',
    'src/engine/bad.ts',
    "import '../pungi.js';",
    'engine-imports-only-below',
  ],
  [
    'an import between siblings',
    'src/wrap/bad.ts',
    "import '../harness/x.js';",
    'wrap-does-not-import-siblings',
  ],
  ['a folder without a place', 'src/utils/bad.ts', "import '../base/x.js';", 'every-module-has-a-layer'],
  [
    'a process started elsewhere',
    'src/cli/bad.ts',
    "import { spawn } from 'node:child_process';",
    'spawn-processes',
  ],
  ['an import of nothing', 'src/cli/bad.ts', "import './missing.js';", 'imports-resolve'],
])('%s fails', async (_, name, text, rule) => {
  plant({
    'src/engine/x.ts': 'export type X = 1;',
    'src/cli/x.ts': 'export type X = 1;',
    'src/harness/x.ts': 'export type X = 1;',
    'src/base/x.ts': 'export type X = 1;',
    'src/pungi.ts': 'export type X = 1;',
    [name]: text,
  });
  const { failed, output } = await check();
  expect(output).toContain(rule);
  expect(output).toContain(name);
  expect(failed).toBe(true);
});

test('a circle fails', async () => {
  plant({ 'src/engine/a.ts': "import './b.js';", 'src/engine/b.ts': "import './a.js';" });
  expect(await check()).toEqual({ failed: true, output: expect.stringContaining('no-circles') });
});

test('a check that saw no module fails', async () => {
  plant({ 'src/readme.md': 'nothing' });
  expect((await check()).failed).toBe(true);
});
