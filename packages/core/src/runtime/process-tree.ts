import { randomInt, randomUUID } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs';

/** Finds processes of a server under test through /proc. On systems other than Linux it finds none. */

const ROUNDS = 20;

/** Ends the leader's process group, its descendants, and processes with the mark, which may have left the group. */
export function endTree(leader: number, mark: ServerMark): void {
  kill(-leader);
  // Processes that are being forked now are found in the next round.
  for (let round = 0; round < ROUNDS; round += 1) {
    const strays = straysOf(leader, mark);
    if (strays.length === 0) return;
    for (const pid of strays) kill(pid);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended, or belongs to another user by now.
  }
}

function straysOf(leader: number, mark: ServerMark): number[] {
  const parents = new Map(allProcesses().map((pid) => [pid, parentOf(pid)]));
  const found = descendants(leader, parents);
  for (const [pid, parent] of parents)
    if (parent !== undefined && bearsMark(mark, tracesOf(pid))) found.add(pid);
  found.delete(process.pid);
  return [...found].filter((pid) => parents.get(pid) !== undefined);
}

const tracesOf = (pid: number) => ({
  environ: read(`/proc/${pid}/environ`),
  limits: read(`/proc/${pid}/limits`),
});

function descendants(leader: number, parents: ReadonlyMap<number, number | undefined>): Set<number> {
  const found = new Set<number>();
  const open = [leader];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop())
    for (const [pid, own] of parents) {
      if (own !== parent || found.has(pid)) continue;
      found.add(pid);
      open.push(pid);
    }
  return found;
}

/** Returns the resident memory of a process and its descendants, or undefined if it cannot be read. */
export function memoryOfTree(leader: number): number | undefined {
  const tree = [leader];
  for (const pid of tree) tree.push(...childrenOf(pid));
  const sizes = tree.map(residentMb).filter((size) => size !== undefined);
  return sizes.length === 0 ? undefined : sizes.reduce((sum, size) => sum + size, 0);
}

function childrenOf(pid: number): number[] {
  return listing(`/proc/${pid}/task`).flatMap((task) =>
    read(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function residentMb(pid: number): number | undefined {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)) ?? [];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

const allProcesses = (): number[] =>
  listing('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Returns undefined if the process has ended or is a zombie. */
function parentOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`);
  // After the name, which may contain anything: state, parent, …
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return parent === undefined || state === 'Z' || state === 'X' ? undefined : Number(parent);
}

function listing(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Marks that identify all processes that a server under test starts. */
export interface ServerMark {
  /** A line of its environment. */
  variable: string;
  /** A resource limit. */
  locks: number;
}

/** Set in the environment of a server, and inherited by everything that it starts, unless it gets another one. */
const VARIABLE = 'PUNGI_SERVER_UNDER_TEST';
/** Sets limits and executes the program. */
const PRLIMIT = '/usr/bin/prlimit';

export function newMark(): ServerMark {
  return { variable: `${VARIABLE}=${randomUUID()}`, locks: randomInt(2 ** 40, 2 ** 47) };
}

export const marked = (
  env: Readonly<Record<string, string>>,
  { variable }: ServerMark,
): Record<string, string> => ({
  ...env,
  [VARIABLE]: variable.slice(VARIABLE.length + 1),
});

/**
 * Returns the command that starts a program with this limit on file locks, which Linux has not used for twenty years.
 * Processes inherit it even in another session, with an empty environment and without a parent.
 */
export function limited(
  command: string,
  args: readonly string[],
  { locks }: ServerMark,
): { command: string; args: readonly string[] } {
  try {
    accessSync(PRLIMIT, constants.X_OK);
  } catch {
    return { command, args };
  }
  return { command: PRLIMIT, args: [`--locks=${locks}:`, '--', command, ...args] };
}

const bearsMark = (
  { variable, locks }: ServerMark,
  { environ, limits }: { environ: string; limits: string },
): boolean =>
  environ.split('\0').includes(variable) || new RegExp(`^Max file locks +${locks} `, 'm').test(limits);

/** A shell script with the leader and the limit as its arguments: ends the group and the processes with the limit. */
export const END_ALL = `kill -s KILL -- "-$1" 2>/dev/null
for found in $(grep -ls "^Max file locks  *$2 " /proc/[0-9]*/limits); do
  found=\${found#/proc/}
  kill -s KILL "\${found%/limits}" 2>/dev/null
done`;
