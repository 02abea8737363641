import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileProblem, PungiError, readBounded, writeWhole } from '@pungi/core/base';
import type { ToolsFile } from '@pungi/core/contract';
import { TOOLS_FILE } from '../tools-file/make-tools-file.js';
import { MAX_TOOLS_FILE_BYTES, readToolsFile } from '../tools-file/read-tools-file.js';
import { type FolderFile, REQUIREMENTS_FILE } from './folder.js';

/** What is there already. */
interface Place {
  /** Absolute. */
  folder: string;
  /** Its tools file; undefined: there is nothing in it, or no such folder. */
  old: ToolsFile | undefined;
}

/** Whether a folder may be written to. One that was made for the same script is written to again, but only on demand. */
export function placeFor(path: string, script: string, force: boolean): Place {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { folder: resolve(path), old: undefined };
  const folder = realFolder(path);
  if (folder === undefined) throw invalid(`${path} exists already and is no folder.`);
  const names = readdirSync(folder);
  if (names.length === 0) return { folder, old: undefined };
  if (!names.includes(TOOLS_FILE))
    throw invalid(`${path} is not empty: name a folder that is, or one that is not there yet.`);
  if (!force)
    throw invalid(
      `${path} is not empty; --force writes it anew and keeps what you have changed in ${TOOLS_FILE}.`,
    );
  const file = join(folder, TOOLS_FILE);
  const old = readToolsFile(readText(file), join(path, TOOLS_FILE));
  if (basename(old.script) !== script)
    throw invalid(`${path} holds the tools of ${old.script}: name another folder for ${script}.`);
  return { folder, old };
}

/** Each file is the old or the new one, whole; a folder that was not there before is there with all of them or not at all. */
export function writeFolder({ folder, old }: Place, files: readonly FolderFile[]): void {
  try {
    if (old === undefined) makeWhole(folder, files);
    else renew(folder, files);
  } catch (error) {
    if (error instanceof PungiError) throw error;
    throw invalid(`${folder} cannot be written: ${fileProblem(error)}.`);
  }
}

function makeWhole(folder: string, files: readonly FolderFile[]): void {
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(join(dirname(folder), `.${basename(folder)}.`));
  try {
    // A temporary folder is its owner's alone; this one is to be given away.
    const whole = join(draft, 'whole');
    mkdirSync(whole);
    for (const { path, content } of files) {
      mkdirSync(dirname(join(whole, path)), { recursive: true });
      writeFileSync(join(whole, path), content);
    }
    // Where there is an empty folder of that name, this one takes its place.
    renameSync(whole, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function renew(folder: string, files: readonly FolderFile[]): void {
  for (const { path, content } of files) writeWhole(join(folder, path), content);
  if (!files.some(({ path }) => path === REQUIREMENTS_FILE))
    rmSync(join(folder, REQUIREMENTS_FILE), { force: true });
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return lstatSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function readText(path: string): string {
  const read = readBounded(path, MAX_TOOLS_FILE_BYTES);
  if ('problem' in read) throw invalid(`${path} cannot be read: ${read.problem}.`);
  return read.bytes.toString();
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
