import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { askAhead, firstCandidate, isPythonName } from './interpreter.js';
import { startForkServerAhead } from './spawn.js';

/** Flags that may name another interpreter, or a tier without a fork server. */
const MAY_DIFFER = /^--(python|tier|config)\b/;

/**
 * Starts what a command will probably need, before its code is loaded and its settings are read: a fork server of the interpreter,
 * which imports its modules and waits, and the question about the interpreter's version. The settings decide what is used of it.
 * `args`: the arguments of the command.
 */
export function startAhead(args: readonly string[], env: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || env['PUNGI_TIER'] === 'spawn') return;
  if (env['PUNGI_CONFIG'] || existsSync('pungi.yaml') || args.some((one) => MAY_DIFFER.test(one))) return;
  const python = firstCandidate(env['PUNGI_PYTHON'] || undefined, env);
  if (python === undefined) return;
  // Which interpreter a script starts, and whether another program is one, is known when it has answered.
  if (isPythonName(basename(python)) && isBinary(python)) startForkServerAhead(python);
  askAhead(python, env);
}

const ELF = '\x7fELF';

function isBinary(path: string): boolean {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const first = Buffer.alloc(ELF.length);
      readSync(file, first);
      return first.toString('latin1') === ELF;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
