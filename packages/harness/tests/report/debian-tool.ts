import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { withLock } from '../../../../scripts/lock.mjs';
import { scratch } from '../../../../scripts/repository.mjs';

const run = promisify(execFile);

/**
 * The path of a program of Debian's. Where it is missing it is installed, but only by root and where the tests may use
 * the network, as in .ci/run: nobody's machine gets a browser because tests were started on it.
 */
export async function ensureTool(name: string): Promise<string | undefined> {
  const path = `/usr/bin/${name}`;
  const mayInstall = process.getuid?.() === 0 && process.env['PUNGI_TEST_REAL_INDEX'] === '1';
  if (!existsSync(path) && mayInstall && existsSync('/usr/bin/apt-get')) {
    await withLock(() => existsSync(path) || install(name), scratch('debian-lock')).catch((error: Error) => {
      console.warn(`${name} could not be installed: ${error.message}`);
    });
  }
  return existsSync(path) ? path : undefined;
}

async function install(name: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run('apt-get', ['update', '-qq'], { env });
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], {
    env,
    maxBuffer: 1 << 26,
  });
}
