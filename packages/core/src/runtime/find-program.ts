import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** Resolves a command to a file, as the system does; undefined if there is no executable one. */
export function findProgram(command: string, folder: string, path: string): string | undefined {
  const candidates = command.includes('/')
    ? [resolve(folder, command)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((one) => join(one, command));
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return statSync(candidate).isFile();
    } catch {
      return false;
    }
  });
}
