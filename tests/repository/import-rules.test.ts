import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const CHECK = resolve(import.meta.dirname, '../../scripts/check-imports.mjs');

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'test-root-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function plant(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
}

/** A package of each name, with one module that it exports and one that it does not. */
function plantPackages(): void {
  mkdirSync(join(root, 'node_modules/@pungi'), { recursive: true });
  for (const name of ['core', 'wrap', 'harness', 'server', 'cluster', 'cli', 'pungi']) {
    plant({
      [`packages/${name}/package.json`]: JSON.stringify({
        name: `@pungi/${name}`,
        exports: { '.': './src/index.ts' },
      }),
      [`packages/${name}/src/index.ts`]: 'export type X = 1;',
      [`packages/${name}/tests/x.ts`]: 'export type X = 1;',
    });
    symlinkSync(join(root, 'packages', name), join(root, 'node_modules/@pungi', name));
  }
  plant({
    'packages/core/src/engine/x.ts': 'export type X = 1;',
    'packages/core/src/base/x.ts': 'export type X = 1;',
    'packages/core/src/pungi.ts': 'export type X = 1;',
  });
}

function check(folder = root): Promise<{ failed: boolean; output: string }> {
  return new Promise((done) => {
    execFile(process.execPath, [CHECK, folder], (error, stdout, stderr) => {
      done({ failed: error !== null, output: stdout + stderr });
    });
  });
}

test('imports of lower folders and of what packages export pass, and are counted', async () => {
  plantPackages();
  plant({
    'packages/core/src/engine/run.ts':
      "import type { Code } from '../base/errors.js';\nexport type Run = Code;",
    'packages/core/src/base/errors.ts': 'export type Code = string;',
    'packages/core/src/sandbox/spawn.ts': "import 'node:child_process';",
    'packages/wrap/src/good.ts': "import '@pungi/core';",
  });
  expect(await check()).toEqual({ failed: false, output: expect.stringContaining('no violation') });
});

test.each([
  [
    'an import of a higher folder',
    'core/src/base/bad.ts',
    "import '../engine/x.js';",
    'base-imports-only-below',
  ],
  [
    'a type from a higher folder',
    'core/src/contract/bad.ts',
    "import type { X } from '../engine/x.js';",
    'contract-imports',
  ],
  [
    'a lazy import of a higher folder',
    'core/src/runtime/bad.ts',
    "await import('../engine/x.js');",
    'runtime-imports',
  ],
  [
    'a re-export of a higher folder',
    'core/src/gate/bad.ts',
    "export * from '../pungi.js';",
    'gate-imports-only-below',
  ],
  [
    'an import of the facade from below',
    'core/src/engine/bad.ts',
    "import '../pungi.js';",
    'engine-imports-only-below',
  ],
  [
    'an import of the own surface',
    'core/src/engine/bad.ts',
    "import '../index.js';",
    'no-package-imports-its-own-surface',
  ],
  [
    'a folder of core without a place',
    'core/src/utils/bad.ts',
    "import '../base/x.js';",
    'every-module-of-core-has-a-layer',
  ],
  ['a package without a place', 'utils/src/bad.ts', "import '@pungi/core';", 'every-package-has-a-place'],
  [
    'an import of a package above',
    'core/src/engine/bad.ts',
    "import '@pungi/wrap';",
    'core-imports-only-its-packages',
  ],
  [
    'an import of a package beside',
    'wrap/src/bad.ts',
    "import '@pungi/harness';",
    'wrap-imports-only-its-packages',
  ],
  [
    'an import of what a package does not export',
    'wrap/src/bad.ts',
    "import '../../core/src/engine/x.js';",
    'packages-import-what-others-export',
  ],
  [
    'an import of the cluster by what a single machine needs',
    'server/src/bad.ts',
    "import '@pungi/cluster';",
    'server-imports-only-its-packages',
  ],
  ['an import of a test', 'wrap/src/bad.ts', "import '../tests/x.js';", 'source-imports-only-source'],
  [
    'a process started elsewhere',
    'cli/src/bad.ts',
    "import { spawn } from 'node:child_process';",
    'spawn-processes',
  ],
  ['an import of nothing', 'cli/src/bad.ts', "import './missing.js';", 'imports-resolve'],
  [
    'an import of what exports do not name',
    'cli/src/bad.ts',
    "import '@pungi/core/runtime';",
    'imports-resolve',
  ],
])('%s fails', async (_, name, text, rule) => {
  plantPackages();
  plant({ [`packages/${name}`]: text });
  const { failed, output } = await check();
  expect(output).toContain(rule);
  expect(output).toContain(name);
  expect(failed).toBe(true);
});

test('what packages may import of each other is what their manifests export', () => {
  const root = resolve(import.meta.dirname, '../..');
  const isSurface = /^(index|processes|[\w-]+\/index|base\/node-version|sandbox\/head-start)\.ts$/;
  for (const name of readdirSync(join(root, 'packages'))) {
    const { exports } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
    const exported = Object.values<string>(exports).map((path) => path.replace('./src/', ''));
    const surfaces = readdirSync(join(root, 'packages', name, 'src'), { recursive: true, encoding: 'utf8' });
    if (name === 'cli') expect(exported).toEqual(['main.ts']);
    else
      expect(exported.sort()).toEqual(
        surfaces.filter((path) => isSurface.test(path) && !isInternal(name, path)).sort(),
      );
  }
});

/** The index of a folder that no package exports: the list of a package's own tools or reports. */
const isInternal = (name: string, path: string) => name !== 'core' && path.includes('/');

test('a circle fails', async () => {
  plant({
    'packages/core/src/engine/a.ts': "import './b.js';",
    'packages/core/src/engine/b.ts': "import './a.js';",
  });
  expect(await check()).toEqual({ failed: true, output: expect.stringContaining('no-circles') });
});

test('a check that saw no module fails', async () => {
  plant({ 'packages/core/src/readme.md': 'nothing' });
  expect((await check()).failed).toBe(true);
});
