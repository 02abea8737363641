import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../base/version.js';
import type { Tier } from '../contract/outcome.js';

export const PYTHON_HALF = join(PACKAGE_ROOT, 'packages/core/python');

/** The initial variables of a run; started_as.py adds to them. Nothing of the server's environment is inherited. */
const CLEAN_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  MPLBACKEND: 'agg',
  // Required to start any program on Windows.
  ...(process.platform === 'win32' && { SystemRoot: process.env['SystemRoot'] ?? 'C:\\Windows' }),
};

/** The files of an environment that a guard locks (packages/core/python/pungi/run/lease.py). */
export interface Lease {
  /** Held as long as the guard lives: the generation is not removed. */
  generation: string;
  /** Held while runs are active: the environment is not deleted. */
  runs: string;
}

export interface ForkServerSettings {
  tier: Tier;
  socket: string;
  workBase: string;
  preload: string[];
  /** For all preloads and .pth files together. */
  preloadTimeoutMs: number;
  /** The limit of a run; packages may use as much while they load, and at least what large ones need. */
  memoryMb: number;
  /** The limit of supervisors, parked and busy. */
  mostSupervisors: number;
  /** Folders besides the interpreter's own that runs may read. */
  roots: string[];
  diskMb: number;
  /** Whether the interpreter's own packages are hidden. */
  isBare: boolean;
  /** Folders of the host that runs can read, as data/NAME in their work folder. */
  data: readonly { name: string; path: string }[];
  /** The proxy for the allowed hosts; null: no network. */
  network: { socket: string } | null;
  /** The place of the cgroups of its runs, and the total memory of all runs of the server; null: no cgroups. */
  cgroups: { name: string; server: number; totalMb: number | null } | null;
  lease?: Lease | undefined;
  uid: number;
}

/**
 * Starts a part of the Python half. Node reports some failures by throwing and others by 'error'; here all of them
 * are reported by 'error', and then there are no streams.
 */
export function spawnPython(
  python: string,
  part: readonly string[],
  options: Pick<SpawnOptions, 'stdio' | 'env'>,
): ChildProcess {
  // Runs inherit the UTF-8 mode of this process, which follows LANG as in any Python.
  const mode = part[0] === 'fork-server' || part[0] === 'spawn' ? [] : ['-X', 'utf8'];
  try {
    return spawn(python, ['-I', '-S', ...mode, PYTHON_HALF, ...part], {
      ...options,
      cwd: '/',
      // A new session: Ctrl-C in a terminal is for the server, and the process group can be killed as one.
      detached: true,
      windowsHide: true,
    });
  } catch (error) {
    const child = new ChildProcess();
    process.nextTick(() => child.emit('error', error));
    return child;
  }
}

/**
 * Kills a process, if it was started. Node does not check: for a process that could not be started, its kill()
 * signals process 0, which means our own process group.
 */
export function killChild(child: ChildProcess): void {
  if (child.pid !== undefined) child.kill('SIGKILL');
}

const REASONS: Record<string, string> = {
  EMFILE: 'the server has too many files and connections open',
  ENFILE: 'the machine has too many files and connections open',
  EAGAIN: 'there are too many processes',
  ENOMEM: 'there is no memory left',
  ENOENT: 'it is not there',
  EACCES: 'it may not be executed',
};

/** Explains the 'error' of a process that did not start. */
export function whyNotStarted(python: string, { code = '', message }: NodeJS.ErrnoException): string {
  const reason = REASONS[code];
  return `the interpreter ${python} could not be started: ${reason ? `${reason} (${code})` : message}`;
}

export interface SpawnSettings
  extends Pick<ForkServerSettings, 'isBare' | 'data' | 'memoryMb' | 'lease' | 'uid'> {
  /** Created for the run, and removed with it. */
  folder: string;
}

/** Starts a fork server: its stdout carries reports, its stderr the output of packages. */
export const spawnForkServer = (python: string, settings: ForkServerSettings) =>
  withSettings(takeForkServer(python) ?? spawnPart(python, 'fork-server'), settings);

/** Starts the supervisor of one plain interpreter: its stdout carries frames. */
export const spawnSupervisor = (python: string, settings: SpawnSettings) =>
  withSettings(spawnPart(python, 'spawn'), settings);

/** It waits for its settings, and ends when its stdin ends. */
function spawnPart(python: string, ...part: string[]): ChildProcess {
  const child = spawnPython(python, part, { stdio: ['pipe', 'pipe', 'pipe'], env: CLEAN_ENVIRONMENT });
  child.stdin?.on('error', () => {});
  return child;
}

/** Orders follow the settings. */
function withSettings(child: ChildProcess, settings: object): ChildProcess {
  child.stdin?.write(`${JSON.stringify(settings)}\n`);
  return child;
}

/** A fork server without settings: it imports its modules meanwhile, and ends with this process. */
export interface ForkServerAhead {
  python: string;
  child: ChildProcess;
  /** What it says about its interpreter, before it imports anything; undefined if it ends instead. */
  introduction: Promise<string | undefined>;
}

let startedAhead: ForkServerAhead | undefined;

/** Starts a fork server before its settings are known. */
export function startForkServerAhead(python: string): ForkServerAhead {
  const child = spawnPart(python, 'fork-server', 'introduce');
  const introduction = new Promise<string | undefined>((resolve) => {
    // If it could not be started, another one is, and reports why.
    child.once('error', () => resolve(undefined)).once('exit', () => resolve(undefined));
    child.stdout?.once('data', (line: Buffer) => {
      child.stdout?.pause(); // its reports are for its owner
      resolve(line.toString());
    });
  });
  return { python, child, introduction };
}

/** The next fork server of its interpreter is this one. */
export function adoptForkServer(started: ForkServerAhead | undefined): void {
  startedAhead = started;
}

/** Returns the fork server that was started ahead, if it runs. One of another interpreter is not needed, and ends. */
function takeForkServer(python: string): ChildProcess | undefined {
  const started = startedAhead;
  startedAhead = undefined;
  if (started === undefined) return undefined;
  const { child } = started;
  const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  if (isRunning && started.python === python) return child;
  child.stdin?.destroy();
  return undefined;
}
