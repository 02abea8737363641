import { randomInt, randomUUID } from 'node:crypto';
import { accessSync, constants } from 'node:fs';

/** By these, whatever a server under test starts is known as its own. */
export interface ServerMark {
  /** A line of its environment. */
  variable: string;
  /** A resource limit. */
  locks: number;
}

/** In the environment of a server, and so of everything that it starts, unless it is given another. */
const VARIABLE = 'PUNGI_SERVER_UNDER_TEST';
/** Sets limits and becomes the program. */
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
 * What is started instead of a program, so that it has the limit as well: on file locks, which Linux has not looked at for
 * twenty years. It stays with what is started in a session of its own, with an empty environment and without a parent.
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

/** A script for sh with the leader and the limit as its arguments: ends both the group and what bears the limit. */
export const END_ALL = `kill -s KILL -- "-$1" 2>/dev/null
for found in $(grep -ls "^Max file locks  *$2 " /proc/[0-9]*/limits); do
  found=\${found#/proc/}
  kill -s KILL "\${found%/limits}" 2>/dev/null
done`;
