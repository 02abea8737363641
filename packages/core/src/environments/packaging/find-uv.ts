import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { runTool } from '../../sandbox/tool.js';
import type { FetchedTool } from './fetch-tool.js';
import type { PackagerSettings, Uv, UvWheel } from './packager.js';
import { toolEnvironment } from './tool-environment.js';

/** The version of uv that Pungi fetches if there is no other. */
export const OWN_UV_VERSION = '0.13.7';

const wheel = (tags: string, sha256: string): UvWheel => ({
  filename: `uv-${OWN_UV_VERSION}-py3-none-${tags}.whl`,
  sha256,
});
const LINUX_ARM64 = wheel(
  'manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64',
  'a90f5d95716ab83091f0f73a8e7ec64e557abf2a28537fcd719b2ac88e6f725a',
);
/** The hashes are part of Pungi: a uv from any index or mirror is used only if it is the published one. */
const WHEELS: Readonly<Record<string, UvWheel>> = {
  'linux-x64': wheel(
    'manylinux_2_17_x86_64.manylinux2014_x86_64',
    '2c9bdc4a872b60a93c5f26c0791089ea11585a4f9d3b3c017d78eb8487505e25',
  ),
  'linux-x64-musl': wheel(
    'musllinux_1_1_x86_64',
    '8b8ac028ae4ebb2a3f9d04907c61794f2cf8d7a7002bfbb4019a3dee28351fb2',
  ),
  'linux-arm64': LINUX_ARM64,
  'linux-arm64-musl': LINUX_ARM64,
  'darwin-x64': wheel(
    'macosx_10_12_x86_64',
    'fd04bf01ba5f2829f4f94ca8f0c24a743f21e73d75045613ed6fc2fd66fc7bda',
  ),
  'darwin-arm64': wheel(
    'macosx_11_0_arm64',
    'f91a229093163eefca89ea1b220a221d64c3beade05d03519a6584d1797a5a5f',
  ),
};

/** The wheel of uv for this machine, if there is one. */
export const wheelForMachine = (): UvWheel | undefined => WHEELS[machineName()];

/** Such as linux-x64, or linux-x64-musl. */
export function machineName(): string {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } };
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined;
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;
}

/** Pungi's own uv, as it is fetched. */
export const ownUv = (settings: PackagerSettings): FetchedTool => ({
  name: 'uv',
  project: 'uv',
  wheel: settings.uvWheel ?? wheelForMachine(),
  program: `uv-${OWN_UV_VERSION}.data/scripts/uv`,
  folder: ownUvFolder(settings.base),
  runs: async (path) => (await versionOf(settings, path)) !== undefined,
});

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
