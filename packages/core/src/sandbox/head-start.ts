import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { askAhead } from './interpreter.js';
import { startForkServerAhead } from './spawn.js';

/** Settings that may name another interpreter, or a tier without a fork server. */
const DECIDES_LATER = /^--(python|tier|config)\b/;

/**
 * Starts the interpreter that a command will probably use, before its code is loaded and its settings are read: a question
 * about its version, and a fork server, which imports its modules and waits for its settings. Whatever the settings do not
 * need is dropped. `args`: those of the command.
 */
export function startAhead(args: readonly string[], env: NodeJS.ProcessEnv): void {
  if (process.platform !== 'linux' || env['PUNGI_TIER'] === 'spawn') return;
  if (env['PUNGI_CONFIG'] || existsSync('pungi.yaml') || args.some((one) => DECIDES_LATER.test(one))) return;
  const python = askAhead(env['PUNGI_PYTHON'] || undefined, env);
  // Which interpreter a script starts is known when it has answered.
  if (python !== undefined && isProgram(python)) startForkServerAhead(python);
}

const ELF = '\x7fELF';

function isProgram(path: string): boolean {
  try {
    const file = openSync(path, 'r');
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
