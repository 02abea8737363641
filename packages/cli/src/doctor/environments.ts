import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { auditFolder, openTrailForReading } from '@pungi/core/audit';
import { countText, PungiError, sizeText } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { EnvironmentInfo } from '@pungi/core/contract';
import type { Environments } from '@pungi/core/environments';
import type { Profiles } from '@pungi/core/gate';
import { type Finding, fail, ok, warn } from './finding.js';

/** Less than this is filled by one environment of the larger packages. */
const LITTLE_MB = 1024;

/** What packages and environments depend on. Runs without them work all the same, so nothing here is a failure. */
export async function environmentFindings(
  environments: Environments,
  preinstalled: readonly string[],
): Promise<Finding[]> {
  const all = await environments.list();
  return [
    await packageTool(environments),
    place(environments.base, all),
    ...damaged(all),
    ...(preinstalled.length === 0 ? [] : [await packages(environments, preinstalled)]),
  ];
}

const ORIGINS = {
  configured: 'as configured (PUNGI_UV)',
  PATH: 'found on PATH',
  interpreter: 'beside the interpreter',
  own: 'Pungi’s own',
};

async function packageTool({ packaging }: Environments): Promise<Finding> {
  const name = 'Packages';
  try {
    const { uv, note } = await packaging.look();
    if (uv === null) return warn(name, note, 'Runs work; packages cannot be installed until then.');
    const { version, path, origin } = uv;
    const text = `installed with uv ${version} at ${path}, ${ORIGINS[origin]}`;
    return ok(name, note === '' ? text : `${text}. ${note}`);
  } catch (thrown) {
    return warn(name, PungiError.from(thrown).message, 'Correct PUNGI_UV, or leave it out.');
  }
}

function place(base: string, all: readonly EnvironmentInfo[]): Finding {
  const name = 'Environments';
  const made = all.filter(({ path }) => path !== null);
  const inline = made.filter(({ isInline }) => isInline).length;
  const count = `${countText(made.length, 'environment')}${inline > 0 ? ` (${inline} of scripts)` : ''}`;
  const freeMb = freeSpaceMb(base);
  const found = `${count} in ${base}, ${sizeText(freeMb)} free`;
  const remedy = 'Make it your own (chmod go-w), or set VENVS_BASE_PATH.';
  if (!isWritable(base)) return warn(name, `${found}, which cannot be written`, remedy);
  if (isShared(base)) return warn(name, `${found}, which other users can change`, remedy);
  return freeMb >= LITTLE_MB
    ? ok(name, found)
    : warn(name, found, 'Make room; "pungi env clean" removes what is not used.');
}

function damaged(all: readonly EnvironmentInfo[]): Finding[] {
  const names = all.filter(({ state }) => state === 'damaged').map(({ venvName }) => venvName);
  if (names.length === 0) return [];
  const todo = 'Create them again (pungi env create NAME …), or remove them (pungi env clean).';
  return [warn('Damaged', names.join(', '), todo)];
}

async function packages(environments: Environments, wanted: readonly string[]): Promise<Finding> {
  const name = 'Preinstalled';
  try {
    const { requested = [] } = (await environments.metadata()) ?? {};
    const missing = environments.normalise(wanted).filter((one) => !requested.includes(one));
    if (missing.length === 0) return ok(name, `${wanted.join(', ')}: in "${environments.defaultName}"`);
    const todo = 'The next start of the server installs them; "pungi env install" does it now.';
    return warn(name, `${missing.join(', ')}: not in "${environments.defaultName}" yet`, todo);
  } catch (thrown) {
    return warn(name, PungiError.from(thrown).message, 'Correct PREINSTALLED_PACKAGES, or the environment.');
  }
}

/** As strict as whatever writes there: others could put environments into it. */
function isShared(base: string): boolean {
  const found = statSync(base, { throwIfNoEntry: false });
  if (found === undefined) return false;
  const { uid, mode } = found;
  const foreign = ![0, process.getuid?.() ?? uid].includes(uid);
  return foreign || ((mode & 0o022) !== 0 && (mode & 0o1000) === 0);
}

function freeSpaceMb(base: string): number {
  const { bavail, bsize } = statfsSync(nearest(base));
  return (bavail * bsize) / 1024 / 1024;
}

export function profileFinding({ all, usable }: Profiles, { defaultProfile }: Config): Finding {
  const files = [...new Set(all.map(({ origin }) => origin))].filter((origin) => origin !== 'built-in');
  const from = files.length === 0 ? 'built in' : `built in and of ${files.join(', ')}`;
  const found = `${countText(all.length, 'profile')} ${from}, ${usable.length} for callers; runs that name none get "${defaultProfile}"`;
  return ok('Profiles', found);
}

/** Nothing is run where it cannot be recorded, so a trail that cannot be written is a failure. */
export async function auditFinding(config: Config): Promise<Finding> {
  const name = 'Audit trail';
  if (!config.audit) return warn(name, 'off', 'Nothing that is run is recorded; AUDIT=true turns it on.');
  const folder = auditFolder(config);
  const todo = 'Make it writable, choose another with AUDIT_DIR, or record nothing with AUDIT=false.';
  if (!isWritable(folder)) return fail(name, `${folder} cannot be written`, todo);
  if (!existsSync(folder)) return ok(name, `will be made in ${folder}`);
  try {
    const trail = await openTrailForReading(folder);
    const [newest] = trail.list({ limit: 1 });
    trail.close();
    return ok(
      name,
      `${countText(newest?.seq ?? 0, 'entry', 'entries')} in ${folder}; "pungi audit verify" checks them`,
    );
  } catch (thrown) {
    return fail(name, PungiError.from(thrown).message, todo);
  }
}

/** The folder itself, or the one that it would be made in. */
function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

/** Whether it, or what it would be made in, can be written. */
function isWritable(base: string): boolean {
  try {
    accessSync(nearest(base), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
