// Temporary folders of the bench, on the disk where users keep environments, removed at the end.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Kept between benches. */
export const KEPT = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pungi', 'bench');

const made = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Not below /tmp: a run has its own /tmp, and a folder below the machine's needs another mount. */
export function makeFolder(name) {
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(KEPT, `${name}-`));
  // The sandbox may run as another user, who has to reach the files below.
  chmodSync(folder, 0o755);
  made.push(folder);
  return folder;
}

/** For a process with its own environment variables. */
export function ownFolders() {
  const { XDG_STATE_HOME = '', XDG_CACHE_HOME = '', PUNGI_DATA_DIR = '' } = process.env;
  return { XDG_STATE_HOME, XDG_CACHE_HOME, PUNGI_DATA_DIR };
}
