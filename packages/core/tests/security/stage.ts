import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { RUNS_ALL } from '../../../../tests/support/long-tests.js';
import { isPublic } from '../../../../tests/support/places.js';
import type { AttackTier, User } from './attack.js';

export const REPOSITORY = fileURLToPath(new URL('../../../..', import.meta.url));
/** No account has this number: an ordinary user whose processes are all the test's own. */
const ORDINARY_UID = 54_321;
export const IS_ROOT = process.getuid?.() === 0;
/** The users that a server is started as: whoever runs the tests; with all tests, root also runs them as an ordinary user. */
export const USERS: readonly User[] = IS_ROOT ? (RUNS_ALL ? ['root', 'user'] : ['root']) : ['user'];

/** A folder that every user can read, with all that a runner needs: bundle, Python half, interpreter, node. */
export interface Stage {
  folder: string;
  runner: string;
  keeper: string;
  node: string;
  python: string;
  canary: string;
  remove(): void;
}

export async function buildStage(entry = 'attack-runner'): Promise<Stage> {
  const folder = mkdtempSync(join(reachableTemporaryFolder(), 'pungi-attacks-'));
  chmodSync(folder, 0o755);
  // The library finds its Python half and its manifest in a folder above.
  const runner = join(folder, `app/dist/runner/${entry}.mjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`./${entry}.ts`, import.meta.url))],
    outdir: dirname(runner),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // As in dist: in one file, what is imported late would be set up before what it needs.
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  });
  cpSync(join(REPOSITORY, 'packages/core/python'), join(folder, 'app/packages/core/python'), {
    recursive: true,
  });
  cpSync(join(REPOSITORY, 'package.json'), join(folder, 'app/package.json'));
  cpSync(fileURLToPath(new URL('./keeper.py', import.meta.url)), join(folder, 'keeper.py'));
  execFileSync('chmod', ['-R', 'a+rX', join(folder, 'app'), join(folder, 'keeper.py')]);
  return {
    folder,
    runner,
    keeper: join(folder, 'keeper.py'),
    node: reachableNode(folder),
    python: reachableInterpreter(),
    canary: `PUNGI-CANARY-${randomBytes(12).toString('hex')}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Own home and temporary folder for one runner. */
export function runnerFolder(stage: Stage, tier: AttackTier, user: User): string {
  const folder = join(stage.folder, `${tier}-${user}`);
  for (const path of [folder, join(folder, 'home'), join(folder, 'tmp'), join(folder, 'cache')]) {
    mkdirSync(path);
    chmodSync(path, 0o755);
    if (IS_ROOT && user === 'user') chownSync(path, ORDINARY_UID, ORDINARY_UID);
  }
  return folder;
}

/** How a runner is started: in its own folder, with nothing of ours but PATH, as the user. `more`: further variables. */
export const startedIn = (folder: string, user: User, more: NodeJS.ProcessEnv = {}) => ({
  cwd: folder,
  env: {
    PATH: process.env['PATH'],
    HOME: `${folder}/home`,
    TMPDIR: `${folder}/tmp`,
    PUNGI_DATA_DIR: `${folder}/data`,
    ...more,
  },
  ...identityOf(user),
});

export const identityOf = (user: User) =>
  IS_ROOT && user === 'user' ? { uid: ORDINARY_UID, gid: ORDINARY_UID } : {};

function reachableTemporaryFolder(): string {
  return (
    [tmpdir(), '/tmp', '/var/tmp'].find((path) => existsSync(path) && isPublic(realpathSync(path))) ??
    tmpdir()
  );
}

function reachableNode(folder: string): string {
  const node = realpathSync(process.execPath);
  if (!IS_ROOT || isPublic(node)) return node;
  cpSync(node, join(folder, 'node'));
  return join(folder, 'node');
}

/**
 * The first Python of 3.10 or later that an ordinary user can start. Rows expect that nothing of /root and /home is in the sandbox, so
 * it is none of those that lie there, even if everybody can read them.
 */
function reachableInterpreter(): string {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/local/bin',
    '/usr/bin',
    '/opt/python/bin',
  ];
  const names = (folder: string) =>
    readdirSync(folder)
      .filter((name) => /^python3(\.\d+)?$/.test(name))
      .sort();
  const found = [...new Set(folders)]
    .filter((folder) => folder !== '' && existsSync(folder))
    .flatMap((folder) => names(folder).map((name) => join(folder, name)));
  const python = found.find(isUsable);
  if (python !== undefined) return python;
  throw new Error(
    `The attack table needs a Python 3.10 or newer that every user can start, such as /usr/bin/python3; looked at ${found.join(', ') || 'PATH'}.`,
  );
}

function isUsable(python: string): boolean {
  try {
    const check =
      'import sys, ctypes; sys.exit(sys.version_info < (3, 10) or sys.base_prefix.startswith(("/root/", "/home/")))';
    execFileSync(python, ['-I', '-c', check], {
      stdio: 'ignore',
      timeout: 10_000,
      cwd: '/',
      env: {},
      ...identityOf('user'),
    });
    return true;
  } catch {
    return false;
  }
}
