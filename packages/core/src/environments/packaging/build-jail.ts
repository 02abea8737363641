import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { JailSettings } from './jailed-tool.js';
import { removeAbandoned } from './temporary-folder.js';

/** The age of a folder that a killed build left. No build takes this long. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;

export interface Build {
  base: string;
  /** The interpreter that packages are built for. */
  python: string;
  /** Folders that the tool writes. */
  writable: string[];
  /** Other paths that it reads, if they exist. */
  readable: string[];
  indexes: string[];
  /** Contains the machine's proxies and certificates. */
  env: Record<string, string>;
}

/** Describes what a tool may read and write while it builds source distributions, whose code is untrusted. */
export async function buildJailFor({
  base,
  python,
  writable,
  readable,
  indexes,
  env,
}: Build): Promise<JailSettings> {
  const folder = buildsFolder(base);
  await mkdir(folder, { recursive: true });
  // Not the folder of a link to it, which may be a private one.
  const prefix = dirname(dirname(await realpath(python)));
  return {
    readable: [python, prefix, ...readable.filter(isAbsolute)],
    writable,
    scratch: join(folder, randomUUID()),
    indexes,
    env,
  };
}

/** Removes credentials and network settings from the environment of a build. */
export const inJail = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => IN_JAIL.test(name)));

const IN_JAIL =
  /^(?:PATH|LANG|LC_\w+|NO_COLOR|UV_(?:NO_WRAP|PYTHON_DOWNLOADS|CONSTRAINT|OVERRIDE|EXCLUDE|EXCLUDE_NEWER|PRERELEASE|RESOLUTION|INDEX_STRATEGY|NO_CONFIG))$/;

export const removeAbandonedBuilds = (base: string): Promise<void> =>
  removeAbandoned(buildsFolder(base), ABANDONED_AFTER_MS);

const buildsFolder = (base: string) => join(base, '.cache', 'builds');
