// Checks whether the installed packages match the lock file. It compares content, so that a pull, a checkout of an
// old branch, an interrupted install and a manual `npm install` are all detected.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './repository.mjs';

export function installed(folder = root) {
  const wanted = packagesOf(join(folder, 'package-lock.json'));
  // npm writes this file last, once everything is in place.
  const present = packagesOf(join(folder, 'node_modules', '.package-lock.json'));
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '') return true;
    const found = present[path];
    // Packages for other systems are in the lock and never installed.
    if (found === undefined) return entry.optional === true || entry.devOptional === true;
    return found.version === entry.version && found.integrity === entry.integrity;
  });
}

export function install(folder = root) {
  console.error('Installing dependencies …');
  // A mirror may lack the packages of other systems, and `npm ci` then refuses the whole lock. The second command
  // follows the lock as well, and does not write it.
  const ways = [['ci'], ['install', '--no-save']];
  const attempts = [];
  for (const way of ways) {
    const attempt = npm([...way, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], folder);
    if (attempt.status === 0) return;
    attempts.push(`npm ${way.join(' ')}: ${attempt.error?.message ?? attempt.stderr.trim()}`);
  }
  console.error(
    `${attempts.join('\n\n')}\n\nThe dependencies of ${folder} could not be installed; see above.`,
  );
  process.exit(1);
}

/** The npm that runs this script, or else the one on PATH. */
function npm(args, folder) {
  const own = process.env.npm_execpath;
  const options = { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' };
  if (own?.endsWith('.js')) return spawnSync(process.execPath, [own, ...args], options);
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' });
}

function packagesOf(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
