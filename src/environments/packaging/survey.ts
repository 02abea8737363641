import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { ownUvPath } from './own-uv.js';
import type { PackagerSettings, PackagerTool } from './packager.js';
import { isAtLeast, versionOf } from './tool-version.js';

/** The first whose indexes have the names that are used today. */
const OLDEST_UV = [0, 5] as const;
/** The first that takes `--python`. */
export const OLDEST_PIP = [22, 3] as const;

export interface Survey {
  uv?: PackagerTool;
  pip?: PackagerTool;
  mayInstallUv: boolean;
  python: string;
  /** Sentences about what was found and will not do. */
  notes: string[];
}

/** What there is to install packages with. pip is looked for only where there is no uv. */
export async function surveyTools(settings: PackagerSettings, wanted: string | undefined): Promise<Survey> {
  const survey: Survey = { mayInstallUv: false, python: settings.python, notes: [] };
  if (wanted !== undefined && wanted !== 'off') {
    survey.uv = await configuredUv(settings, wanted);
    return survey;
  }
  const uv = wanted === 'off' ? undefined : await findUv(settings, survey.notes);
  if (uv) {
    survey.uv = uv;
    return survey;
  }
  const version = await versionOf(settings, settings.python, ['-I', '-m', 'pip', '--version']);
  if (version !== undefined) {
    survey.pip = { name: 'pip', version, path: settings.python, origin: 'interpreter' };
    survey.mayInstallUv = wanted !== 'off';
  }
  return survey;
}

async function configuredUv(settings: PackagerSettings, wanted: string): Promise<PackagerTool> {
  const path = resolve(wanted);
  const version = await versionOf(settings, path, ['--version']);
  if (version !== undefined && isAtLeast(version, OLDEST_UV))
    return { name: 'uv', version, path, origin: 'configured' };
  const why =
    version === undefined
      ? 'cannot be run as uv'
      : `is uv ${version}: ${OLDEST_UV.join('.')} or newer is needed`;
  throw new PungiError('TOOL_UNAVAILABLE', `PUNGI_UV names ${path}, which ${why}.`, { path });
}

async function findUv(settings: PackagerSettings, notes: string[]): Promise<PackagerTool | undefined> {
  const onPath = (settings.env['PATH'] ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, 'uv'))
    .find(isProgram);
  for (const [origin, path] of [
    ['PATH', onPath],
    ['own', ownUvPath(settings.base)],
  ] as const) {
    if (path === undefined || !isProgram(path)) continue;
    const version = await versionOf(settings, path, ['--version']);
    if (version !== undefined && isAtLeast(version, OLDEST_UV)) return { name: 'uv', version, path, origin };
    const why =
      version === undefined ? 'does not run' : `is uv ${version}, older than ${OLDEST_UV.join('.')}`;
    notes.push(`${path} ${why}, so it is not used.`);
  }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
