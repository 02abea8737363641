import { type Dirent, existsSync, readFileSync, rmSync } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileProblem, PungiError, similarName, writeWhole } from '@pungi/core/base';
import type { ToolsFile } from '@pungi/core/contract';
import { TOOLS_FILE, toolsFileText } from '../tools-file/make-tools-file.js';
import { readToolsFile } from '../tools-file/read-tools-file.js';
import type { ScriptSource } from './wrapped-script.js';

/** What begins otherwise is not looked at in the tools folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/;

/** Also the name of a file: no path, nothing hidden. */
export function checkToolsName(name: string): string {
  if (NAME.test(name)) return name;
  throw invalid(
    `"${name}" cannot be the name of tools: use letters, digits, "_", "-" and ".", at most 100 of them.`,
  );
}

/** A name for the tools of a file that is called anything. */
export function toolsNameOf(filename: string): string {
  const stem = filename.replace(/\.[^.]+$/, '');
  const plain = stem
    .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, 100);
  return NAME.test(plain) ? plain : 'script';
}

export const registeredPath = (folder: string, name: string): string =>
  join(folder, `${checkToolsName(name)}${REGISTRATION}`);

/** Undefined where nothing of the name is registered. */
export function readRegistered(folder: string, name: string): ToolsFile | undefined {
  const path = registeredPath(folder, name);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw invalid(`${path} cannot be read: ${fileProblem(error)}.`);
  }
  return readToolsFile(text, path);
}

export function register(folder: string, name: string, file: ToolsFile): string {
  const path = registeredPath(folder, name);
  writeWhole(path, toolsFileText(file));
  return path;
}

/** The script itself is not touched. */
export async function unregister(folder: string, name: string): Promise<string> {
  const path = registeredPath(folder, name);
  const script = join(folder, `${name}.py`);
  if (existsSync(path) && existsSync(script)) {
    throw invalid(
      `${script} lies in the tools folder itself, and without ${path} all of it would be offered: move or delete the script first.`,
    );
  }
  try {
    rmSync(path);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
      throw invalid(`${path} cannot be removed: ${fileProblem(error)}.`);
    }
  }
  throw await notRegistered(folder, name);
}

async function notRegistered(folder: string, name: string): Promise<PungiError> {
  const { sources } = await listSources(folder);
  const own = sources.find((one) => one.name === name);
  if (own !== undefined) {
    return invalid(
      `"${name}" is ${join(folder, own.origin)} itself, which lies in the tools folder: move or delete it there.`,
    );
  }
  const names = sources.filter(({ kind }) => kind === 'registration').map((one) => one.name);
  const similar = similarName(name, names);
  const advice =
    similar === undefined ? '"pungi wrap list" shows those that are.' : `do you mean "${similar}"?`;
  return invalid(`No script is wrapped as "${name}"; ${advice}`);
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** More than this many are not looked at. */
const MOST_SCRIPTS = 300;
const MOST_ENTRIES = 5000;
/** A script that lies elsewhere is registered by a file of this ending. */
const REGISTRATION = '.tools.json';

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
  const isScriptFolder = entries.some(({ name }) => name === TOOLS_FILE);
  const found = await Promise.all(
    entries.sort(byName).map((entry) => sourceOf(folder, entry, isScriptFolder)),
  );
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
async function sourceOf(
  folder: string,
  { name }: Dirent,
  isScriptFolder: boolean,
): Promise<ScriptSource | null> {
  if (/^[._]/.test(name)) return null;
  if (name === TOOLS_FILE) return { name: 'tools', origin: name, kind: 'folder' };
  if (name.endsWith(REGISTRATION)) {
    return { name: name.slice(0, -REGISTRATION.length), origin: name, kind: 'registration' };
  }
  if (name.endsWith('.py'))
    return isScriptFolder ? null : { name: name.slice(0, -'.py'.length), origin: name, kind: 'script' };
  const isWrapped = await stat(join(folder, name, TOOLS_FILE)).then(
    () => true,
    () => false,
  );
  return isWrapped ? { name, origin: join(name, TOOLS_FILE), kind: 'folder' } : null;
}

const byName = (one: Dirent, other: Dirent) => (one.name < other.name ? -1 : 1);
