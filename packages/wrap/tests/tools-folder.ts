import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { listeningLogger, sharedPungi, temporaryFolder } from '../../core/tests/engine/pungi.js';
import type { PythonSide } from '../src/discover/discover-script.js';
import { WrappedScripts } from '../src/tools-folder/wrapped-scripts.js';

export type Files = Record<string, string>;

interface Place {
  folder?: string;
  side?: PythonSide;
  lookEveryMs?: number;
  patienceMs?: number;
  areFilesTrusted?: boolean;
}

/** Tools folders for the tests of a file. Each has a folder of its own, and somebody who watches it; they share a Pungi. */
export function toolsFolders() {
  const base = temporaryFolder();
  const pungi = sharedPungi();
  const open: WrappedScripts[] = [];
  afterEach(async () => {
    for (const wrapped of open.splice(0)) await wrapped.close();
  });
  const newFolder = () => mkdtempSync(join(base, 'tools-'));
  const offered = async (files: Files, { folder = newFolder(), side = pungi, ...pace }: Place = {}) => {
    write(folder, files);
    const logger = listeningLogger();
    const wrapped = new WrappedScripts(folder, side, logger, true, pace);
    open.push(wrapped);
    wrapped.watch();
    await wrapped.look();
    const names = () => [...wrapped.tools.keys()];
    const problems = () =>
      Object.fromEntries(wrapped.scripts.map(({ origin, problem }) => [origin, problem]));
    return { folder, wrapped, names, problems, logger };
  };
  return { pungi, newFolder, offered };
}

export function write(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/** A script with a function that says something. */
export const say = (name: string, text = name) =>
  `def ${name}() -> str:\n    """Say."""\n    return "${text}"\n`;
