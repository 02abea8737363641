import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Manifest {
  name: string;
  version: string;
}

/** The folder of the npm package `pungi`, whose manifest, Python half and schemas lie beside the sources and the build alike. */
export const PACKAGE_ROOT = findRoot(dirname(fileURLToPath(import.meta.url)));

export const VERSION = manifestIn(PACKAGE_ROOT)!.version;

function findRoot(folder: string): string {
  if (manifestIn(folder)?.name === 'pungi') return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('pungi cannot find its package.json: install it again.');
  return findRoot(parent);
}

function manifestIn(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined;
}
