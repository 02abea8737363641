import { homedir } from 'node:os';
import { join } from 'node:path';

/** What lies here is read by the sandbox's user, so a server that runs as root does not put it into root's home. */
export function dataFolder(env = process.env, uid = process.getuid?.()): string {
  if (uid === 0) return '/var/lib/pungi';
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'pungi');
}
