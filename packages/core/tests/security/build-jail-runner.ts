/**
 * Installs packages with runJailedTool, as whatever user it is started, and prints what came of each.
 * The test bundles it, so that a user who cannot read the repository can run it.
 */
import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { runJailedTool } from '../../src/environments/packaging/build-jail.js';
import { exitWhenRead } from './exit.js';
import { descendantsOf } from './process-tree.js';

/** What one runner is to do. */
export interface Installations {
  python: string;
  uv: string;
  folder: string;
  index: string;
  packages: { name: string; isStaying?: boolean }[];
}

export interface Installed {
  name: string;
  status: number | null;
  stderr: string;
  error: { code?: string; message: string } | null;
}

const { python, uv, folder, index, packages } = JSON.parse(await text(process.stdin)) as Installations;

for (const { name, isStaying = false } of packages) {
  process.stdout.write(`${JSON.stringify(await install(name, isStaying))}\n`);
}
exitWhenRead();

async function install(name: string, isStaying: boolean): Promise<Installed> {
  const environment = makeEnvironment(name);
  const command = {
    python,
    command: uv,
    args: ['pip', 'install', '--no-progress', '--python', `${environment}/bin/python`, name],
    env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', UV_PYTHON_DOWNLOADS: 'never' },
  };
  const jail = {
    readable: [],
    writable: [environment],
    scratch: `${folder}/scratch-${name}`,
    indexes: [index],
  };
  const abort = new AbortController();
  if (isStaying) void abortWhenItStays(abort);
  try {
    const { status, stderr } = await runJailedTool(command, jail, {
      timeoutMs: 60_000,
      signal: abort.signal,
    });
    return { name, status, stderr, error: null };
  } catch (error) {
    return { name, status: null, stderr: '', error: { ...(error as object), message: String(error) } };
  }
}

/** As a generation is made: with links, and a file whose other name belongs to somebody else. */
function makeEnvironment(name: string): string {
  const environment = `${folder}/environments/${name}`;
  mkdirSync(`${folder}/environments`, { recursive: true });
  execFileSync(python, ['-m', 'venv', '--without-pip', environment]);
  symlinkSync('/bin/sh', `${environment}/old-link`);
  symlinkSync('/bin/sh', `${environment}/kept-link`);
  writeFileSync(`${folder}/shared-${name}.txt`, 'shared\n');
  linkSync(`${folder}/shared-${name}.txt`, `${environment}/shared.txt`);
  return environment;
}

async function abortWhenItStays(abort: AbortController): Promise<void> {
  const looking = setInterval(() => {
    if (!descendantsOf(process.pid).some(({ command }) => command === 'sleep')) return;
    clearInterval(looking);
    abort.abort(new Error('no longer wanted'));
  }, 20);
}
