import { opendirSync, realpathSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { basename, dirname, relative, sep } from 'node:path';

/** Where a script really lies. */
interface ScriptPlace {
  /** Undefined if the run must not see the folder: it then runs alone. */
  folder: string | undefined;
  filename: string;
}

/**
 * Returns the folder that the script can read and import from, if it asks for that. A home folder, what is above one, and hidden
 * folders such as ~/.config were never meant to be read by scripts. A script that does not ask for its folder sees none: runs that see
 * folders of the host do without unix sockets and flock.
 */
export function placeOf(file: string, code: string): ScriptPlace {
  const real = realOf(file) ?? file;
  const folder = dirname(real);
  const homes = [homedir(), homeOfUser()].map((home) => home && realOf(home));
  const holdsHome = homes.some((home) => home && isWithin(home, folder));
  const isHidden = folder.split(sep).some((part) => part.startsWith('.'));
  const isShown = !holdsHome && !isHidden && asksForFolder(code, folder, basename(real));
  return { folder: isShown ? folder : undefined, filename: basename(real) };
}

/** Ways to find out where the script lies. */
const OWN_PLACE = /\b__file__\b|\bsys\s*\.\s*path\b|\bargv\s*\[\s*0\b|\b__spec__\b|\bgetsource/;
/** An end of a module's file name; a folder may be a package. */
const MODULE = /\.(py|pyc|so|zip|egg)$/;
/** More files than this are not looked at. */
const MOST_ENTRIES = 10_000;

/** Whether the script uses its own place, or the name of a module or a folder next to it. */
function asksForFolder(code: string, folder: string, own: string): boolean {
  if (OWN_PLACE.test(code)) return true;
  const words = new Set(code.match(/[\p{L}\p{Nl}_][\p{L}\p{N}\p{M}_]*/gu));
  const entries = opendirSync(folder);
  try {
    for (let seen = 0, entry = entries.readSync(); entry !== null && seen < MOST_ENTRIES; seen += 1) {
      const isOwn = entry.name === own || entry.name.startsWith('.');
      const mayBeModule = MODULE.test(entry.name) || !entry.isFile();
      if (!isOwn && mayBeModule && words.has(entry.name.split('.', 1)[0]!)) return true;
      entry = entries.readSync();
    }
    return false;
  } finally {
    entries.closeSync();
  }
}

/** Undefined for a user without an entry, as containers have. */
function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}
