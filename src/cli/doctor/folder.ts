import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The folder itself, or the one that it would be made in. */
export function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

/** Whether it, or what it would be made in, can be written. */
export function isWritable(base: string): boolean {
  try {
    accessSync(nearest(base), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
