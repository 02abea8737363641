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
import { fileProblem, makeFolders, PungiError, readBounded, writeWhole } from '@pungi/core/base';
import type { ToolsFile } from '@pungi/core/contract';
import { TOOLS_FILE } from '../tools-file/make-tools-file.js';
import { MAX_TOOLS_FILE_BYTES, readToolsFile } from '../tools-file/read-tools-file.js';
import { type FolderFile, REQUIREMENTS_FILE } from './folder.js';

/** What is there already. */
interface Place {
  /** Absolute. */
  folder: string;
  /** Its tools files, by the names of their scripts; empty: there is nothing in it, or no such folder. */
  old: ReadonlyMap<string, ToolsFile>;
}

const isToolsFile = (name: string) => name === TOOLS_FILE || name.endsWith(`.${TOOLS_FILE}`);

/** Whether a folder may be written to. One that was made for these scripts is written to again, but only on demand. */
export function placeFor(path: string, scripts: readonly string[], force: boolean): Place {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined)
    return { folder: resolve(path), old: new Map() };
  const folder = realFolder(path);
  if (folder === undefined) throw invalid(`${path} exists already and is no folder.`);
  const names = readdirSync(folder);
  if (names.length === 0) return { folder, old: new Map() };
  if (!names.some(isToolsFile))
    throw invalid(`${path} is not empty: name a folder that is, or one that is not there yet.`);
  if (!force)
    throw invalid(
      `${path} is not empty; --force writes it anew and keeps what you have changed in ${TOOLS_FILE}.`,
    );
  const old = names
    .filter(isToolsFile)
    .map((name) => readToolsFile(readText(join(folder, name)), join(path, name)));
  const other = old.find(({ script }) => !scripts.includes(basename(script)));
  if (other !== undefined)
    throw invalid(
      `${path} holds the tools of ${other.script}: name another folder for ${scripts.join(', ')}.`,
    );
  return { folder, old: new Map(old.map((file) => [basename(file.script), file])) };
}

/** Each file is the old or the new one, whole; a folder that was not there before is there with all of them or not at all. */
export function writeFolder({ folder, old }: Place, files: readonly FolderFile[]): void {
  try {
    if (old.size === 0) makeWhole(folder, files);
    else renew(folder, files);
  } catch (error) {
    if (error instanceof PungiError) throw error;
    throw invalid(`${folder} cannot be written: ${fileProblem(error)}.`);
  }
}

function makeWhole(folder: string, files: readonly FolderFile[]): void {
  makeFolders(dirname(folder));
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
  const isOver = (name: string) =>
    (name === REQUIREMENTS_FILE || isToolsFile(name)) && !files.some(({ path }) => path === name);
  for (const name of readdirSync(folder).filter(isOver)) rmSync(join(folder, name));
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
