import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative } from 'node:path';
import { PungiError } from '../base/errors.js';
import { isOfScripts, type PoolSpec } from './environment-ref.js';

type DataFolder = PoolSpec['data'][number];

/** File systems of the kernel are not data. */
const NEVER_SHOWN = ['/proc', '/sys', '/dev'];

/** Resolves the paths of the folders; throws for the first one with data that runs may not see. */
export function resolveDataFolders(folders: readonly DataFolder[], ownFolder: string): DataFolder[] {
  const own = realpathSync(ownFolder);
  return folders.flatMap((folder) => {
    try {
      return [resolveFolder(folder, own)];
    } catch (error) {
      if (isOfScripts(folder)) return [];
      throw error;
    }
  });
}

function resolveFolder({ name, path }: DataFolder, own: string): DataFolder {
  const refuse = (why: string) =>
    new PungiError('DENIED', `The data folder "${name}" (${path}) cannot be shown to runs: ${why}.`);
  if (!isAbsolute(path)) throw refuse('its path is not absolute');
  const real = resolve(path, refuse);
  if (real === '/') throw refuse('it is the whole machine');
  if (NEVER_SHOWN.some((folder) => isWithin(real, folder))) throw refuse('it belongs to the kernel');
  if (isWithin(own, real) || isWithin(real, own)) throw refuse('the work folders of other runs are in it');
  return { name, path: real };
}

function resolve(path: string, refuse: (why: string) => PungiError): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(code === 'ENOENT' ? 'it does not exist' : `it cannot be read (${code})`);
  }
  throw refuse('it is not a folder');
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../'));
}
