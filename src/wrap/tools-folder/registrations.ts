import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { fileProblem, writeWhole } from '../../base/files.js';
import { similarName } from '../../base/similar-name.js';
import type { ToolsFile } from '../../contract/wrap.js';
import { toolsFileText } from '../tools-file/make-tools-file.js';
import { readToolsFile } from '../tools-file/read-tools-file.js';
import { listSources, REGISTRATION } from './sources.js';

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
