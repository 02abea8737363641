import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem } from '../../base/files.js';
import { TOOLS_FILE } from '../tools-file/make-tools-file.js';
import type { ScriptSource } from './wrapped-script.js';

/** More than this many are not looked at. */
const MOST_SCRIPTS = 300;
const MOST_ENTRIES = 5000;
/** A script that lies elsewhere is registered by a file of this ending. */
export const REGISTRATION = '.tools.json';

interface Sources {
  sources: ScriptSource[];
  /** Why the folder, or a part of it, cannot be read. */
  problem: string | null;
  exists: boolean;
}

/** What lies in the tools folder: scripts, their tools files, and folders with a tools file. In the order of their names. */
export async function listSources(folder: string): Promise<Sources> {
  const entries: Dirent[] = [];
  try {
    for await (const entry of await opendir(folder)) {
      if (entries.length >= MOST_ENTRIES) break;
      entries.push(entry);
    }
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code !== 'ENOENT';
    const reason = exists ? fileProblem(error) : 'there is no such folder';
    return { sources: [], problem: `The tools folder ${folder} cannot be read: ${reason}.`, exists };
  }
  const isAlone = entries.some(({ name }) => name === TOOLS_FILE);
  const found = await Promise.all(entries.sort(byName).map((entry) => sourceOf(folder, entry, isAlone)));
  const registered = new Set(
    found.filter((source) => source?.kind === 'registration').map((source) => source!.name),
  );
  // What a registration hides must not come back because the registration cannot be read.
  const sources = found.filter(
    (source) => source !== null && !(source.kind === 'script' && registered.has(source.name)),
  ) as ScriptSource[];
  const isTooMany = sources.length > MOST_SCRIPTS || entries.length >= MOST_ENTRIES;
  const problem = `The tools folder ${folder} holds more than ${MOST_SCRIPTS} scripts: what comes after that is not offered.`;
  return { sources: sources.slice(0, MOST_SCRIPTS), problem: isTooMany ? problem : null, exists: true };
}

/** Hidden files and those that begin with "_" are nobody's tools; where the folder itself is a wrapped script, no other is. */
async function sourceOf(folder: string, { name }: Dirent, isAlone: boolean): Promise<ScriptSource | null> {
  if (/^[._]/.test(name)) return null;
  if (name === TOOLS_FILE) return { name: 'tools', origin: name, kind: 'folder' };
  if (name.endsWith(REGISTRATION)) {
    return { name: name.slice(0, -REGISTRATION.length), origin: name, kind: 'registration' };
  }
  if (name.endsWith('.py'))
    return isAlone ? null : { name: name.slice(0, -'.py'.length), origin: name, kind: 'script' };
  const isWrapped = await stat(join(folder, name, TOOLS_FILE)).then(
    () => true,
    () => false,
  );
  return isWrapped ? { name, origin: join(name, TOOLS_FILE), kind: 'folder' } : null;
}

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);
