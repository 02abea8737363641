import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  name: string;
  version: string;
}

/** The folder of the npm package `pungi`, which contains its manifest, the Python half and the schemas. */
export const PACKAGE_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

export const VERSION = manifestIn(PACKAGE_ROOT)!.version;

function findRoot(folder: string): string {
  if (manifestIn(folder)?.name === 'pungi') return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('Pungi cannot find its package.json: reinstall it.');
  return findRoot(parent);
}

function manifestIn(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined;
}
