import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { runTool } from '../../sandbox/tool.js';
import type { PackagerSettings, Uv } from './packager.js';
import { toolEnvironment } from './tool-environment.js';
import { OWN_UV_VERSION } from './uv-wheels.js';

/** The first version with the current names of index settings. */
const OLDEST = [0, 5] as const;
const TIMEOUT_MS = 30_000;

export const ownUvFolder = (base: string) => join(base, '.tools', `uv-${OWN_UV_VERSION}`);
export const ownUvPath = (base: string) => join(ownUvFolder(base), 'bin', 'uv');

interface FoundUv {
  uv?: Uv;
  /** Sentences about programs that were found but cannot be used. */
  notes: string[];
}

/** Returns the configured uv; else that of PATH, that next to the interpreter, or Pungi's own. */
export async function findUv(settings: PackagerSettings, configured: string | undefined): Promise<FoundUv> {
  if (configured !== undefined) return { uv: await checkConfigured(settings, configured), notes: [] };
  const notes: string[] = [];
  for (const [origin, path] of candidates(settings)) {
    if (!isProgram(path)) continue;
    const version = await versionOf(settings, path);
    if (isUsable(version)) return { uv: { version, path, origin }, notes };
    const why = version === undefined ? 'does not run' : `is uv ${version}, older than ${OLDEST.join('.')}`;
    notes.push(`${path} ${why}, so it is not used.`);
  }
  return { notes };
}

function candidates({ base, python, env }: PackagerSettings): (readonly [Uv['origin'], string])[] {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const onPath = folders.map((folder) => join(folder, 'uv')).find(isProgram);
  return [
    ...(onPath === undefined ? [] : [['PATH', onPath] as const]),
    ['interpreter', join(dirname(python), 'uv')],
    ['own', ownUvPath(base)],
  ];
}

async function checkConfigured(settings: PackagerSettings, configured: string): Promise<Uv> {
  const path = resolve(configured);
  const version = await versionOf(settings, path);
  if (isUsable(version)) return { version, path, origin: 'configured' };
  const why =
    version === undefined
      ? 'cannot be run as uv'
      : `is uv ${version}: ${OLDEST.join('.')} or newer is needed`;
  throw new PungiError('TOOL_UNAVAILABLE', `PUNGI_UV names ${path}, which ${why}.`, { path });
}

/** The version that a uv reports, or undefined if it does not run. */
export async function versionOf(settings: PackagerSettings, uv: string): Promise<string | undefined> {
  const { python, env, closing: signal } = settings;
  try {
    const end = await runTool(
      { python, command: uv, args: ['--version'], env: toolEnvironment(env) },
      { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) },
    );
    return end.status === 0 ? /\d+\.\d+[\w.]*/.exec(end.stdout)?.[0] : undefined;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

function isUsable(version: string | undefined): version is string {
  if (version === undefined) return false;
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
