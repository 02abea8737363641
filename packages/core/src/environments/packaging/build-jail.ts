import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { JailSettings } from './jailed-tool.js';
import { removeAbandoned } from './temporary-folder.js';

/** A build that was killed leaves its folder. None takes this long. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;

export interface Build {
  base: string;
  /** The interpreter that packages are built for. */
  python: string;
  /** Folders that the tool fills. */
  writable: string[];
  /** What else it reads, where it exists. */
  readable: string[];
  indexes: string[];
  /** Where the machine's proxies and certificates are named. */
  env: Record<string, string>;
}

/** What a tool sees and changes while it builds source distributions, whose code may be anything. */
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
  // Not the folder that a link to it lies in: that may be one of the user's.
  const prefix = dirname(dirname(await realpath(python)));
  return {
    readable: [python, prefix, ...readable.filter(isAbsolute)],
    writable,
    scratch: join(folder, randomUUID()),
    indexes,
    env,
  };
}

/** Builds see what their tool sees: nothing that opens a private place, and nothing about a network that is not there. */
export const inJail = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => IN_JAIL.test(name)));

const IN_JAIL =
  /^(?:PATH|LANG|LC_\w+|NO_COLOR|UV_(?:NO_WRAP|PYTHON_DOWNLOADS|CONSTRAINT|OVERRIDE|EXCLUDE|EXCLUDE_NEWER|PRERELEASE|RESOLUTION|INDEX_STRATEGY|NO_CONFIG))$/;

export const removeAbandonedBuilds = (base: string): Promise<void> =>
  removeAbandoned(buildsFolder(base), ABANDONED_AFTER_MS);

const buildsFolder = (base: string) => join(base, '.cache', 'builds');
