import { existsSync, lstatSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Long before any file was written: the next read of it brings its access time up to date, also with relatime. */
const UNREAD = new Date('2001-01-01T00:00:00Z');

/** Where Pungi keeps what belongs to the person who runs the tests, when nothing says otherwise. */
function userFolders(): string[] {
  const home = homedir();
  const data = process.getuid?.() === 0 ? '/var/lib/pungi' : join(home, '.local/share/pungi');
  return [data, join(home, '.local/state/pungi'), join(home, '.cache/pungi/bytecode')];
}

/**
 * Watches the folders of the person who runs the tests. The returned function names every file in them that was read or
 * changed since. Folders that are absent are filled for the time being, so that reading them shows.
 */
export function guardUserFolders(): () => string[] {
  const folders = userFolders();
  const planted = folders.filter(plantDecoy);
  for (const folder of folders) forgetReads(folder);
  const before = folders.map(look);
  return () => {
    const problems = folders.flatMap((folder, index) => differences(before[index]!, look(folder)));
    for (const folder of planted) rmSync(folder, { recursive: true, force: true });
    return problems;
  };
}

/** An environment and a trail that whoever reads them takes for damaged. */
function plantDecoy(folder: string): boolean {
  if (existsSync(folder)) return false;
  for (const name of ['environments/default/pungi.json', 'audit/audit.db', 'tools/decoy.json']) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), 'a decoy of the tests');
  }
  return true;
}

function forgetReads(folder: string): void {
  for (const path of look(folder).keys()) {
    const stat = lstatSync(path);
    if (stat.isFile()) utimesSync(path, UNREAD, stat.mtime);
  }
}

/** Every path below the folder with what a change of it changes. Looking reads no file. */
function look(folder: string): Map<string, string> {
  const seen = new Map<string, string>();
  const left = existsSync(folder) ? [folder] : [];
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    const stat = lstatSync(path);
    if (stat.isDirectory()) {
      for (const name of readdirSync(path)) left.push(join(path, name));
      seen.set(path, `${stat.mode}`);
    } else {
      seen.set(path, `${stat.mode} ${stat.size} ${stat.mtimeMs} ${stat.atimeMs}`);
    }
  }
  return seen;
}

function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.filter((path) => before.get(path) !== after.get(path));
}
