import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Pungi } from '@pungi/core';
import { auditFolder, openTrailForReading } from '@pungi/core/audit';
import { countText, PungiError, sizeText } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import { type EnvironmentInfo, isSandboxed, type Outcome } from '@pungi/core/contract';
import type { Environments } from '@pungi/core/environments';
import type { Profiles } from '@pungi/core/gate';

/** One row of the doctor's screen: what was checked, what was found, and what to do about a problem. */
export interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  todo?: string;
}

export const ok = (name: string, found: string): Finding => ({ name, state: 'ok', found });
export const warn = (name: string, found: string, todo: string): Finding => ({
  name,
  state: 'warn',
  found,
  todo,
});
export const fail = (name: string, found: string, todo: string): Finding => ({
  name,
  state: 'fail',
  found,
  todo,
});

/** One environment with large packages fills less than this. */
const LITTLE_MB = 1024;

/** Checks what packages and environments depend on. Runs work without them, so nothing here is a failure. */
export async function environmentFindings(
  environments: Environments,
  preinstalled: readonly string[],
): Promise<Finding[]> {
  const all = await environments.list();
  return [
    ...(environments.packaging ? [await packageTool(environments.packaging)] : []),
    ...(environments.base === undefined ? [] : [place(environments.base, all)]),
    ...damaged(all),
    ...(preinstalled.length === 0 ? [] : [await packages(environments, preinstalled)]),
  ];
}

const ORIGINS = {
  configured: 'as configured (PUNGI_UV)',
  PATH: 'found on PATH',
  interpreter: 'next to the interpreter',
  own: 'fetched by Pungi',
};

async function packageTool(packaging: NonNullable<Environments['packaging']>): Promise<Finding> {
  const name = 'Packages';
  try {
    const { uv, note } = await packaging.look();
    if (uv === null) return warn(name, note, 'Runs work, but packages cannot be installed.');
    const { version, path, origin } = uv;
    if (origin === 'own' && !existsSync(path)) return ok(name, note);
    const text = `installed with uv ${version} at ${path}, ${ORIGINS[origin]}`;
    return ok(name, note === '' ? text : `${text}. ${note}`);
  } catch (thrown) {
    return warn(name, PungiError.from(thrown).message, 'Correct or unset PUNGI_UV.');
  }
}

function place(base: string, all: readonly EnvironmentInfo[]): Finding {
  const name = 'Environments';
  const made = all.filter(({ path }) => path !== null);
  const inline = made.filter(({ isInline }) => isInline).length;
  const count = `${countText(made.length, 'environment')}${inline > 0 ? ` (${inline} of scripts)` : ''}`;
  const freeMb = freeSpaceMb(base);
  const found = `${count} in ${base}, ${sizeText(freeMb)} free`;
  const remedy = 'Make it writable for you alone (chmod go-w), or set VENVS_BASE_PATH.';
  if (!isWritable(base)) return warn(name, `${found}, not writable`, remedy);
  if (isShared(base)) return warn(name, `${found}, writable by other users`, remedy);
  return freeMb >= LITTLE_MB
    ? ok(name, found)
    : warn(name, found, 'Free disk space; "pungi env clean" removes unused environments.');
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

/** Other users who can write here could plant environments; the code that writes is as strict. */
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
  const from = files.length === 0 ? 'built in' : `built in and from ${files.join(', ')}`;
  const found = `${countText(all.length, 'profile')} ${from}, ${usable.length} for callers; the default is "${defaultProfile}"`;
  return ok('Profiles', found);
}

/** Runs are refused while the trail is not writable, so that is a failure. */
export async function auditFinding(config: Config): Promise<Finding> {
  const name = 'Audit trail';
  if (!config.audit) return warn(name, 'off', 'Runs are not recorded; AUDIT=true turns it on.');
  const folder = auditFolder(config);
  const todo = 'Make it writable, choose another with AUDIT_DIR, or turn it off with AUDIT=false.';
  if (!isWritable(folder)) return fail(name, `${folder} is not writable`, todo);
  if (!existsSync(folder)) return ok(name, `will be created in ${folder}`);
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

/** Returns the folder itself, or the existing one that it would be created in. */
function nearest(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : nearest(dirname(folder));
}

/** Whether the folder, or the one that it would be created in, is writable. */
function isWritable(base: string): boolean {
  try {
    accessSync(nearest(base), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Tries to reach a file and a port that the doctor has placed outside the sandbox. */
const CODE = `
import socket

def works(attempt):
    try:
        attempt()
        return True
    except OSError:
        return False

print(6 * 7)
{
    "file": works(lambda: open(context["file"]).close()),
    "network": works(lambda: socket.create_connection(("127.0.0.1", context["port"]), 2).close()),
}
`;

/** Makes a real run: it must compute, and it must not reach out of its sandbox. */
export async function tryRun(pungi: Pungi): Promise<Finding[]> {
  const outcome = await withBait((bait) => pungi.probe({ code: CODE, context: { ...bait } }));
  const { verdict, stdout, usage } = outcome;
  if (verdict.kind !== 'ok') {
    return [
      fail('Test run', `ended ${verdict.kind}: ${verdict.message}`, 'See the rows above, or report this.'),
    ];
  }
  if (stdout.text.trim() !== '42')
    return [fail('Test run', `6 × 7 gave ${stdout.text.trim()}`, 'Report this.')];
  const took = `computed in ${usage.wallMs.toFixed(1)} ms with ${usage.peakMemoryMb.toFixed(0)} MB`;
  return [
    ok('Test run', took),
    reach(outcome, 'file', 'Files outside'),
    reach(outcome, 'network', 'Network'),
  ];
}

interface Bait {
  file: string;
  port: number;
}

async function withBait(use: (bait: Bait) => Promise<Outcome>): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-doctor-'));
  const file = join(folder, 'bait');
  writeFileSync(file, 'bait', { mode: 0o644 });
  // Readable by everybody: the sandbox must refuse it, not the file permissions.
  chmodSync(folder, 0o755);
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use({ file, port: (server.address() as AddressInfo).port });
  } finally {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function reach({ value, isolation }: Outcome, what: keyof Bait | 'network', name: string): Finding {
  const reached = (value?.json as Record<string, unknown> | undefined)?.[what];
  if (reached === false) return ok(name, 'not reachable from the run');
  if (isolation.tier !== null && !isSandboxed(isolation.tier))
    return warn(
      name,
      'reachable from the run',
      `The ${isolation.tier} tier does not isolate: run only code that you trust.`,
    );
  return fail(name, 'the run reached it', 'Do not run untrusted code here, and report this.');
}
