import { printable, styleFor } from '@pungi/core/base';
import { History } from './history.js';
import type { Done, Shell } from './shell.js';
import { TerminalInput } from './terminal-input.js';

const FIRST = '>>> ';
const MORE = '... ';

const HELP = `Tab completes · Ctrl-C interrupts the code, or clears the input · Ctrl-D or exit() leaves
:restart  start a new session, without variables and files
:help     this text
`;

/** Talks with a person at a terminal until they leave. Returns the exit status. */
export async function talk(shell: Shell, greeting: string): Promise<number> {
  const style = styleFor(process.stdout);
  const history = new History();
  const input = new TerminalInput(history.entries, (line) => shell.complete(line));
  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    input.close();
  };
  process.on('SIGTERM', leave).on('SIGHUP', leave);
  process.stdout.write(`${style('dim', `${greeting}. Ctrl-D leaves, :help shows more.`)}\n`);
  try {
    for (;;) {
      const code = await readInput(shell, input, history);
      if (code === undefined || leaving.signal.aborted) return 0;
      const done = isCommand(code)
        ? runCommand(shell, code)
        : await runInterruptibly(shell, code, leaving.signal);
      if (done.leaves) return done.status;
    }
  } finally {
    process.off('SIGTERM', leave).off('SIGHUP', leave);
    input.close();
  }
}

/** Reads lines until they are a whole input; undefined at the end. An interrupt begins again. */
async function readInput(shell: Shell, input: TerminalInput, history: History): Promise<string | undefined> {
  const before = input.history;
  const lines: string[] = [];
  for (;;) {
    const typed = await input.next(lines.length === 0 ? FIRST : MORE);
    if (typed.kind === 'end') {
      process.stdout.write('\n');
      return undefined;
    }
    if (typed.kind === 'interrupt') {
      process.stdout.write('KeyboardInterrupt\n');
      lines.length = 0;
      continue;
    }
    const text = typed.text.trim() === '' ? '' : typed.text;
    if (text === '' && lines.length === 0) continue;
    lines.push(text);
    const code = lines.join('\n');
    // A paste, or an input of the history, is whole without an empty line at its end.
    const isTyped = lines.every((line) => !line.includes('\n'));
    if (isCommand(code) || (await shell.isWhole(code, isTyped))) {
      const remembered = code.trimEnd();
      input.remember(remembered, before);
      history.add(remembered);
      return code;
    }
  }
}

/** No Python begins with a colon. */
const isCommand = (code: string) => code.startsWith(':');

const COMMANDS: Record<string, (shell: Shell) => string> = {
  ':help': () => HELP,
  ':restart': (shell) => {
    shell.restart();
    return 'A new session starts with the next input.\n';
  },
};

function runCommand(shell: Shell, command: string): Done {
  const known = COMMANDS[command.trim()];
  process.stdout.write(
    known?.(shell) ?? `There is no command ${printable(command.trim())}; :help lists them.\n`,
  );
  return { status: 0, leaves: false };
}

/** Ctrl-C is a signal while code runs. */
async function runInterruptibly(shell: Shell, code: string, leaving: AbortSignal): Promise<Done> {
  const interrupt = new AbortController();
  const abort = () => interrupt.abort();
  process.on('SIGINT', abort);
  try {
    return await shell.run(code, AbortSignal.any([interrupt.signal, leaving]));
  } finally {
    process.off('SIGINT', abort);
  }
}
