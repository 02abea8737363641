import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Config } from '../config/schema.js';
import type { Profile, WorkspaceFolder } from '../contract/profile.js';

const LONGEST_NAME = 64;

/** Returns the folders of DATA_ROOTS with their names below data/. Throws CONFIGURATION_ERROR for an unusable one. */
export function dataRootsOf({ dataRoots }: Pick<Config, 'dataRoots'>): WorkspaceFolder[] {
  const found: WorkspaceFolder[] = [];
  for (const root of dataRoots) {
    const path = resolveRoot(root);
    if (found.some((one) => one.path === path)) continue;
    found.push({ name: freeName(path, found), path });
  }
  return found;
}

/** Returns the data of runs with a profile: its workspace wins over a root of the same name. */
export function dataFoldersOf(
  { workspace }: Pick<Profile, 'workspace'>,
  roots: readonly WorkspaceFolder[],
): readonly WorkspaceFolder[] {
  const isTaken = ({ name }: WorkspaceFolder) => workspace.some((own) => own.name === name);
  return [...workspace, ...roots.filter((root) => !isTaken(root))];
}

function resolveRoot(root: string): string {
  const refuse = (why: string) =>
    new PungiError('CONFIGURATION_ERROR', `DATA_ROOTS: ${resolve(root)} ${why}`, { setting: 'DATA_ROOTS' });
  try {
    const path = realpathSync(resolve(root));
    if (!statSync(path).isDirectory()) throw refuse('is not a folder; name its folder.');
    if (path === '/') throw refuse('is the whole machine; name a folder below it.');
    accessSync(path, constants.R_OK | constants.X_OK);
    return path;
  } catch (error) {
    if (error instanceof PungiError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refuse(
      code === 'ENOENT'
        ? 'does not exist; create it, or name another folder.'
        : `cannot be read (${code}); change its rights, or name another folder.`,
    );
  }
}

/** The folder's own name, as far as it is one that people can type; numbered if it is taken. */
function freeName(path: string, taken: readonly WorkspaceFolder[]): string {
  const plain = basename(path)
    .replaceAll(/[\p{C}\\]/gu, '_')
    .replace(/^\./, '_');
  const name = [...plain].slice(0, LONGEST_NAME).join('');
  const isTaken = (one: string) => taken.some((other) => other.name === one);
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}-${number}`;
    if (!isTaken(numbered)) return numbered;
  }
}
