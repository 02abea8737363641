import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { type AskedAhead, adoptAnswer, askAhead, firstCandidate, isPythonName } from './interpreter.js';
import { adoptForkServer, type ForkServerAhead, startForkServerAhead } from './spawn.js';

/** Flags that may name another interpreter, or a tier without a fork server. */
const MAY_DIFFER = /^--(python|tier|config)\b/;

/** What was started before the code of a command was loaded. */
export interface HeadStart {
  forkServer?: ForkServerAhead;
  asked?: AskedAhead;
}

/**
 * Starts what a command will probably need, before its code is loaded and its settings are read: a fork server of the interpreter,
 * which says what it is, imports its modules and waits. A program that may not be an interpreter is only asked what it is. The
 * settings decide what is used of it. `args`: the arguments of the command.
 */
export function startAhead(args: readonly string[], env: NodeJS.ProcessEnv): HeadStart {
  if (process.platform !== 'linux' || env['PUNGI_TIER'] === 'spawn') return {};
  if (env['PUNGI_CONFIG'] || existsSync('pungi.yaml') || args.some((one) => MAY_DIFFER.test(one))) return {};
  const python = firstCandidate(env['PUNGI_PYTHON'] || undefined, env);
  if (python === undefined) return {};
  // Which interpreter a script starts, and whether another program is one, is known when it has answered.
  if (!isPythonName(basename(python)) || !isBinary(python)) return { asked: askAhead(python, env) };
  const forkServer = startForkServerAhead(python);
  return { forkServer, asked: askAhead(python, env, forkServer.introduction) };
}

/** The command line loads its code in two parts, and the second one goes on with what the first one started. */
export function adopt({ forkServer, asked }: HeadStart): void {
  adoptForkServer(forkServer);
  adoptAnswer(asked);
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
