import { randomInt, randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';

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

export const bearsMark = (
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
