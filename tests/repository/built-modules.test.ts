import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const IMPORT = /from '(?:\.\.\/)+dist\/([^']+)\.js'/g;

test.each(['bench', 'scripts'])('%s imports only built modules that there are', (folder) => {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.mjs') && !name.includes('node_modules'),
  );
  expect(files).not.toEqual([]);
  const missing = files.flatMap((name) =>
    [...readFileSync(join(ROOT, folder, name), 'utf8').matchAll(IMPORT)]
      .map(([, path]) => path!)
      .filter((path) => !existsSync(join(ROOT, 'packages', `${path}.ts`)))
      .map((path) => `${name}: ${path}`),
  );
  expect(missing).toEqual([]);
});
