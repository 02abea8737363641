import { Pungi } from '@pungi/core';
import { PungiError, silentLogger, styleFor, VERSION } from '@pungi/core/base';
import { Command } from 'commander';
import { openLog } from '../act.js';
import { addConfigFlags } from '../config-flags.js';
import { CANCELLED, EXIT_CODES_HELP } from '../exit-codes.js';
import { OutFolder } from '../out-folder.js';
import { asText, readStdin } from '../own-files.js';
import {
  addLimitFlags,
  collect,
  configFor,
  type LimitFlags,
  limitsIn,
  SETTINGS,
  withOption,
} from '../run.js';
import { readInputFile } from '../run-input.js';
import { reportSteps } from '../terminal.js';
import { talk } from './conversation.js';
import { Pictures } from './pictures.js';
import { Shell } from './shell.js';

const HELP = `
Each input is a call of one session, which keeps variables, imports and files until you leave. The
sandbox, the limits of each call and the audit trail are those of "pungi run"; memory, disk and
processes are limits of the session.
Tab completes names, attributes, keys and modules from the live session; Ctrl-R finds an earlier
input that has what is typed, and again the one before it. Ctrl-C interrupts the code and keeps the
session, Ctrl-D or exit() leaves. Inputs are kept for the next shell, in a file that only you can
read. Pictures (plt.show()) are saved, shown with their path, and inline in iTerm2, WezTerm, kitty
and Ghostty. --out DIR keeps them, and the files that the session makes.
Piped input runs statement by statement; the exit code is that of the last statement that failed.
${EXIT_CODES_HELP}

Examples:
  pungi shell
  pungi shell --env ml --file sales.csv
  printf 'x = 6\\nx * 7\\n' | pungi shell`;

interface Parsed extends LimitFlags {
  env?: string;
  profile?: string;
  file: string[];
  with: string[];
  out?: string;
}

/** A person comes back after hours. The longest time of a timer. */
const FOREVER = 2 ** 31 - 1;

export function shellCommand(end: (status: number) => void): Command {
  const command = new Command('shell')
    .description('a Python prompt in the sandbox, with variables, history and completion')
    .option('-e, --env <name>', 'the environment to run in (see: pungi env)')
    .addOption(withOption())
    .option('-p, --profile <name>', 'the profile to run under (see: pungi profile)')
    .option('--file <name=path>', 'copy this file into the work folder; may be repeated', collect, [])
    .option('--data <dir>', 'a folder that the code can read, as data/NAME; may be repeated', collect, [])
    .option('--out <dir>', 'save the files that the session makes, and pictures, in this folder');
  addLimitFlags(command, 'the session');
  addConfigFlags(command, SETTINGS).addHelpText('after', HELP);
  return command.action(async (parsed: Parsed) => end(await openShell(parsed)));
}

async function openShell(parsed: Parsed): Promise<number> {
  const config = { ...configFor(parsed), sessionIdleMs: FOREVER, sessionLifetimeMs: FOREVER };
  const { env: venvName, profile, with: packages, out } = parsed;
  if (out !== undefined) new OutFolder(out); // refused now, not with the first file
  const files = parsed.file.map(readInputFile);
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const steps = reportSteps({ prefix: 'pungi: ' });
  const pungi = Pungi.start(config, config.logFile === undefined ? silentLogger : openLog(config), 'command');
  try {
    const shell = new Shell({
      pungi,
      beginning: {
        ...(venvName !== undefined && { venvName }),
        ...(packages.length > 0 && { packages }),
        ...(profile !== undefined && { profile }),
        ...(files.length > 0 && { files }),
      },
      limits: limitsIn(parsed),
      pictures: new Pictures(out),
      out,
      onStep: steps.onStep,
      clear: () => steps.clear(),
      style: styleFor(process.stderr),
      afterEnd: isTerminal ? 'The next input starts a new session.' : 'The rest of the input was not run.',
    });
    if (!isTerminal) return await runPiped(shell);
    // What makes a session impossible is said before the prompt.
    await shell.complete(' ');
    steps.clear();
    return await talk(shell, await greeting(pungi, parsed));
  } finally {
    steps.clear();
    await pungi.close();
  }
}

async function greeting(pungi: Pungi, { env, with: packages }: Parsed): Promise<string> {
  const { tier } = await pungi.state();
  const { pythonVersion, venvName } = await pungi.environments.show(env);
  const where = packages.length > 0 ? `with ${packages.join(', ')}` : `environment "${venvName}"`;
  return `Pungi ${VERSION}, Python ${pythonVersion}, ${where}, ${tier} tier`;
}

/** Runs standard input statement by statement, until it ends, exits, or ends its session. */
async function runPiped(shell: Shell): Promise<number> {
  const cancel = new AbortController();
  const interrupt = () => cancel.abort(new PungiError('CANCELLED', 'The run was cancelled.'));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  process.stdout.on('error', interrupt);
  try {
    const code = asText(await readStdin(cancel.signal), 'Standard input');
    let status = 0;
    for (const statement of await shell.statements(code.replaceAll('\r\n', '\n'))) {
      const done = await shell.run(statement, cancel.signal);
      if (cancel.signal.aborted) return CANCELLED;
      status = done.status === 0 ? status : done.status;
      if (done.leaves || !shell.hasSession) return done.leaves ? done.status : status;
    }
    return status;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
    process.stdout.off('error', interrupt);
  }
}
