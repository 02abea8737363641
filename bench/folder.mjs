// Where the bench keeps what it makes: on the disk where people keep such things, gone when it ends.
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Kept from one bench to the next. */
export const KEPT = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'pungi', 'bench');

const made = [];
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Not below /tmp: a run has a /tmp of its own, and what lies below the machine's takes it another mount. */
export function makeFolder(name) {
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(KEPT, `${name}-`));
  // The sandbox may run under another user, who has to reach what is below.
  chmodSync(folder, 0o755);
  made.push(folder);
  return folder;
}

/** For a process with an environment of its own. */
export function ownFolders() {
  const { XDG_STATE_HOME = '', XDG_CACHE_HOME = '', PUNGI_DATA_DIR = '' } = process.env;
  return { XDG_STATE_HOME, XDG_CACHE_HOME, PUNGI_DATA_DIR };
}
