import { chmod, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { runTool } from '../../sandbox/tool.js';
import { explanationOf } from './explanation.js';
import { findUnreachable } from './index-reach.js';
import type { PackagerSettings } from './packager.js';
import { indexesOfPip, pipEnvironment } from './pip-environment.js';
import { readPipSettings } from './pip-settings.js';
import { toolEnvironment } from './tool-environment.js';
import { versionOf } from './tool-version.js';

export const OWN_UV_VERSION = '0.13.7';

const TIMEOUT_MS = 5 * 60_000;
/** What a process left behind that was killed in the middle. */
const ABANDONED_AFTER_MS = 60 * 60_000;

export const ownUvFolder = (base: string) => join(base, '.tools', `uv-${OWN_UV_VERSION}`);
export const ownUvPath = (base: string) => join(ownUvFolder(base), 'bin', 'uv');

/**
 * Installs uv with the interpreter's pip. It is made beside its place and then moved there in one step, so that nobody sees
 * half of it; if another process was faster, its one is as good.
 */
export async function installOwnUv(settings: PackagerSettings): Promise<void> {
  const tools = join(settings.base, '.tools');
  await mkdir(tools, { recursive: true });
  await removeAbandoned(tools);
  const making = await mkdtemp(join(tools, '.making-uv-'));
  try {
    await fetchUv(settings, making);
    if ((await versionOf(settings, join(making, 'bin', 'uv'), ['--version'])) === undefined) {
      throw new PungiError('TOOL_UNAVAILABLE', 'The uv that was installed does not run on this machine.');
    }
    await chmod(making, 0o755);
    await moveInto(making, ownUvFolder(settings.base));
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function fetchUv(settings: PackagerSettings, target: string): Promise<void> {
  const { python, closing: signal } = settings;
  const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
  const own = toolEnvironment(settings.env);
  // Constraints are about the packages of environments.
  const env = { ...pipEnvironment(own, await readPipSettings(python, own, signal)), PIP_CONSTRAINT: '' };
  const indexes = await indexesOfPip(python, env, (command) => runTool(command, options));
  // pip would try again and again.
  const silent = await findUnreachable(indexes, env);
  if (silent.length > 0) throw unavailable(`the package index cannot be reached (${silent.join(', ')}).`);
  const args = ['install', '--no-deps', '--only-binary', ':all:', '--no-compile', '--target', target];
  const end = await runTool(
    { python, command: python, args: ['-I', '-m', 'pip', ...args, `uv==${OWN_UV_VERSION}`], env },
    options,
  );
  if (end.status === 0) return;
  const explanation = explanationOf(end.stderr);
  throw unavailable(explanation.split('\n')[0]!, { explanation });
}

const unavailable = (why: string, details = {}) =>
  new PungiError('TOOL_UNAVAILABLE', `uv could not be installed: ${why}`, details);

async function moveInto(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

async function removeAbandoned(tools: string): Promise<void> {
  for (const name of await readdir(tools)) {
    if (!name.startsWith('.making-uv-')) continue;
    const path = join(tools, name);
    const touched = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - touched > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}
