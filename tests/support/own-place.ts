import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { guardUserFolders } from './user-folders.js';

/**
 * The tests, and all that they start, have folders of their own for temporary files, environments, caches and the audit
 * trail. What they leave behind is gone with them, and the folders of whoever runs them are neither read nor changed.
 */
export default function setup(): () => void {
  // Elsewhere a server of that person may be at work in them.
  const touched = process.env['CI'] ? guardUserFolders() : () => [];
  // Short, since the path of a unix socket has to fit below it.
  const folder = mkdtempSync(join(tmpdir(), 'tests-'));
  const own = { XDG_STATE_HOME: 'state', XDG_CACHE_HOME: 'cache', PUNGI_DATA_DIR: 'data' };
  process.env['TMPDIR'] = folder;
  for (const [variable, name] of Object.entries(own)) {
    mkdirSync(join(folder, name));
    process.env[variable] = join(folder, name);
  }
  // As every folder for temporary files: the sandbox's own user has to pass through it.
  chmodSync(folder, 0o1777);
  return () => {
    rmSync(folder, { recursive: true, force: true });
    const paths = touched();
    if (paths.length > 0)
      throw new Error(
        `The tests read or changed files of the user who runs them: ${paths.slice(0, 20).join(', ')}`,
      );
  };
}
