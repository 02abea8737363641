import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where environments and tools are kept. The sandbox's user reads them, so a server that runs as root does not put them
 * into root's home.
 */
export function dataFolder(env = process.env, uid = process.getuid?.()): string {
  if (env['PUNGI_DATA_DIR']) return env['PUNGI_DATA_DIR'];
  if (uid === 0) return '/var/lib/pungi';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'pungi');
}
