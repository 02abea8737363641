import { randomUUID } from 'node:crypto';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { runTool, type ToolCommand, type ToolEnd, type ToolOptions } from '../../sandbox/tool.js';
import { type IndexProxySettings, startIndexProxy } from './index-proxy.js';
import { removeAbandoned } from './tool-environment.js';

/** The age of a folder that a killed build left. No build takes this long. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;

interface Build {
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

/** The port of the forwarder (python/pungi/jail/network_forwarder.py), alone in the jail's network. */
const PORT = 3128;

export interface JailSettings extends IndexProxySettings {
  /** Readable paths, besides the system's folders, the wrapper's interpreter and the command itself. */
  readable: string[];
  /** Writable folders, such as the new generation of the environment. */
  writable: string[];
  /** A folder for the build's cache, home and temporary files. It is created for the build, and removed after it. */
  scratch: string;
}

/**
 * Runs a tool that may build source distributions in a jail, whose network reaches only the indexes, with its own cache.
 * Adds the folders and indexes of the jail to the environment of the command.
 */
export async function runJailedTool(
  command: Omit<ToolCommand, 'jail'>,
  { readable, writable, scratch, ...settings }: JailSettings,
  options: ToolOptions,
): Promise<ToolEnd> {
  const proxy = await startIndexProxy(settings);
  try {
    await makeFolders(scratch);
    const jail = { readable, writable: [...writable, scratch], index: proxy.socket };
    const env = { ...command.env, ...placesIn(scratch), ...indexesAt(PORT, settings.indexes.length) };
    const end = await runTool({ ...command, env, jail }, options);
    return { ...end, stderr: [end.stderr, ...proxy.problems.map((problem) => `${problem}\n`)].join('') };
  } finally {
    await proxy.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function makeFolders(scratch: string): Promise<void> {
  await mkdir(scratch, { mode: 0o700 });
  for (const name of ['cache', 'home', 'tmp']) await mkdir(join(scratch, name));
}

const placesIn = (scratch: string) => ({
  HOME: join(scratch, 'home'),
  TMPDIR: join(scratch, 'tmp'),
  UV_CACHE_DIR: join(scratch, 'cache'),
  // The cache and the environment are separate mounts, between which hard links are impossible.
  UV_LINK_MODE: 'copy',
});

/** Empty values keep uv from using other sources. */
function indexesAt(port: number, count: number): Record<string, string> {
  const [first = '', ...others] = Array.from(
    { length: count },
    (_, n) => `http://127.0.0.1:${port}/simple/${n}/`,
  );
  return {
    UV_DEFAULT_INDEX: first,
    UV_INDEX: others.join(' '),
    UV_INDEX_URL: '',
    UV_EXTRA_INDEX_URL: '',
    UV_NO_CONFIG: '1',
    ...Object.fromEntries(PROXIES.map((name) => [name, ''])),
  };
}

/** Proxies of the machine are not reachable in the jail: index-proxy.ts uses them. */
const PROXIES = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
