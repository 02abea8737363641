import { ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../base/version.js';
import type { Tier } from '../contract/outcome.js';

export const PYTHON_HALF = join(PACKAGE_ROOT, 'packages/core/python');

/** What a run's variables start from; started_as.py adds to them. Nothing of the server's own environment crosses. */
const CLEAN_ENVIRONMENT = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  LANG: 'C.UTF-8',
  MPLBACKEND: 'agg',
  // Without it no program of Windows starts.
  ...(process.platform === 'win32' && { SystemRoot: process.env['SystemRoot'] ?? 'C:\\Windows' }),
};

/** The files of an environment that a guard locks (packages/core/python/pungi/lease.py). */
export interface Lease {
  /** As long as it lives: the generation is not removed. */
  generation: string;
  /** While runs are under way: the environment is not deleted. */
  runs: string;
}

export interface ForkServerSettings {
  tier: Tier;
  socket: string;
  workBase: string;
  preload: string[];
  /** For all of them together, and for what packages load by themselves. */
  preloadTimeoutMs: number;
  /** What a run may have at most; packages may take as much while they load, and at least what large ones need. */
  memoryMb: number;
  /** How many supervisors there may be at once, parked and busy. */
  mostSupervisors: number;
  /** Folders, beside the interpreter's own, that runs may read. */
  roots: string[];
  diskMb: number;
  /** Whether the packages of the interpreter itself stay out of sight. */
  isBare: boolean;
  /** Folders of the host that runs can read, as data/NAME in their work folder. */
  data: readonly { name: string; path: string }[];
  /** The proxy by which runs reach the hosts that they may; none: no network at all. */
  network: { socket: string } | null;
  /** Where the cgroups of its runs are kept, and the memory of all of the server's runs together; none: no cgroups. */
  cgroups: { name: string; server: number; totalMb: number | null } | null;
  lease?: Lease | undefined;
  uid: number;
}

/**
 * Starts a part of the Python half. Node tells of some failures by throwing, of others by 'error'; here all of them are told by
 * 'error', and then there are no streams.
 */
export function spawnPython(
  python: string,
  part: string,
  options: Pick<SpawnOptions, 'stdio' | 'env'>,
): ChildProcess {
  // Runs inherit the mode of who starts them, which follows its LANG as in any Python.
  const mode = part === 'fork-server' || part === 'spawn' ? [] : ['-X', 'utf8'];
  try {
    return spawn(python, ['-I', '-S', ...mode, PYTHON_HALF, part], {
      ...options,
      cwd: '/',
      // A session of its own: Ctrl-C in a terminal is for the server, and all of it can be killed as one group.
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
 * Ends a process, if it ever started. Node does not ask: where it had no descriptor left for one, its kill() sends the signal to
 * process 0, which means our own process group.
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

/** What 'error' told of a process that did not start, for people. */
export function whyNotStarted(python: string, { code = '', message }: NodeJS.ErrnoException): string {
  const reason = REASONS[code];
  return `the interpreter ${python} could not be started: ${reason ? `${reason} (${code})` : message}`;
}

export interface SpawnSettings
  extends Pick<ForkServerSettings, 'isBare' | 'data' | 'memoryMb' | 'lease' | 'uid'> {
  /** Made for the run, and removed with it. */
  folder: string;
}

/** A fork server: reports come from its stdout, what packages print from its stderr. */
export const spawnForkServer = (python: string, settings: ForkServerSettings) =>
  spawnWithSettings(python, 'fork-server', settings);

/** The supervisor of one plain interpreter: frames come from its stdout. */
export const spawnSupervisor = (python: string, settings: SpawnSettings) =>
  spawnWithSettings(python, 'spawn', settings);

/** Orders follow the settings on its stdin; it ends when that ends. */
function spawnWithSettings(python: string, part: string, settings: object): ChildProcess {
  const child = spawnPython(python, part, { stdio: ['pipe', 'pipe', 'pipe'], env: CLEAN_ENVIRONMENT });
  child.stdin?.on('error', () => {});
  child.stdin?.write(`${JSON.stringify(settings)}\n`);
  return child;
}
