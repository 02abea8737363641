import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { InputFile } from '@pungi/core/contract';
import { readText } from '../spec/fault.js';
import { ScriptError } from './script-result.js';

const MOST_FILES = 500;
const MOST_BYTES = 4 * 1024 * 1024;
const NAME = /^[\p{L}_][\p{L}\p{N}_]*$/u;
const IDENTIFIERS = /[\p{L}_][\p{L}\p{N}_]*/gu;

/**
 * Finds the modules and packages in a folder that a script may import: those whose names occur in it, and transitively in them.
 * Code is not parsed, so a name in a comment also includes its module.
 */
export function localModules(folder: string, source: string): InputFile[] {
  const remaining = new Map(entriesOf(folder).map((entry) => [entry.name, entry]));
  const found = new Map<string, InputFile>();
  const open = [source];
  for (let text = open.pop(); text !== undefined; text = open.pop())
    for (const name of new Set(text.match(IDENTIFIERS) ?? [])) {
      const entry = remaining.get(name);
      if (entry === undefined) continue;
      remaining.delete(name);
      for (const file of filesOf(folder, entry)) {
        found.set(file.path, file);
        open.push(file.text!);
      }
      refuseTooMuch(folder, found);
    }
  return [...found.values()];
}

interface Entry {
  name: string;
  file: string;
  isPackage: boolean;
}

function entriesOf(folder: string): Entry[] {
  const all = readFolder(folder).flatMap((entry): Entry[] => {
    const name = entry.name.replace(/\.py$/, '');
    if (!NAME.test(name)) return [];
    if (entry.isDirectory()) return [{ name, file: entry.name, isPackage: true }];
    return entry.name.endsWith('.py') ? [{ name, file: entry.name, isPackage: false }] : [];
  });
  // As in Python, a package takes precedence over a module of the same name; a folder without modules is not
  // a package.
  const packages = new Set(all.filter(({ isPackage }) => isPackage).map(({ name }) => name));
  return all.filter(
    ({ name, isPackage }) => isPackage || !packages.has(name) || !hasModules(join(folder, name)),
  );
}

const hasModules = (folder: string): boolean => readFolder(folder).some(({ name }) => name.endsWith('.py'));

function readFolder(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function filesOf(folder: string, { file, isPackage }: Entry): InputFile[] {
  if (!isPackage) return textOf(folder, file);
  return readFolder(join(folder, file)).flatMap((entry) => {
    const path = `${file}/${entry.name}`;
    if (entry.isDirectory())
      return NAME.test(entry.name) ? filesOf(folder, { name: entry.name, file: path, isPackage: true }) : [];
    return entry.name.endsWith('.py') ? textOf(folder, path) : [];
  });
}

function textOf(folder: string, path: string): InputFile[] {
  const read = readText(join(folder, path));
  return 'text' in read ? [{ path, text: read.text }] : [];
}

function refuseTooMuch(folder: string, found: ReadonlyMap<string, InputFile>): void {
  const bytes = [...found.values()].reduce((sum, { text = '' }) => sum + text.length, 0);
  if (found.size > MOST_FILES || bytes > MOST_BYTES)
    throw new ScriptError(
      'INVALID_INPUT',
      `The script imports more than ${MOST_FILES} files or ${MOST_BYTES} bytes from ${folder}: move them into an environment, or import fewer.`,
    );
}
