import { closeSync, constants, fstatSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '@pungi/core/base';

/** The folder with a socket of each server of the user that runs commands. */
export const socketsFolder = (env: NodeJS.ProcessEnv = process.env): string =>
  join(stateFolder(env), 'servers');

/** An open folder: what it is was checked, and no other can take its place. */
export interface OpenFolder {
  /** The path of a file in it. */
  at(name: string): string;
  names(): string[];
  close(): void;
}

/**
 * Opens a folder that belongs to this user and that nobody else can enter, so whoever listens or connects there is this
 * user, or root. Throws if there is none. Paths below it go through the open file: nobody can swap the folder for another one.
 */
export function openPrivateFolder(path: string): OpenFolder {
  const file = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const { uid, mode } = fstatSync(file);
  if (uid !== process.getuid?.() || (mode & 0o077) !== 0) {
    closeSync(file);
    throw new Error(`${path} is not private`);
  }
  const opened = `/proc/self/fd/${file}`;
  return {
    at: (name) => `${opened}/${name}`,
    names: () => readdirSync(opened),
    close: () => closeSync(file),
  };
}
