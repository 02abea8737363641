import { PungiError, printable, similarName, VERSION } from '@pungi/core/base';
import { Command, CommanderError } from 'commander';
import { EXIT_CODES_HELP, exitCodeOfError, USAGE } from './exit-codes.js';

type MakeCommand = (end: (status: number) => void) => Command;

/** Loads one command: the others, and what they import, stay unloaded. */
const COMMANDS: Record<string, () => Promise<MakeCommand>> = {
  serve: async () => (await import('./serve.js')).serveCommand,
  run: async () => (await import('./run.js')).runCommand,
  shell: async () => (await import('./shell/command.js')).shellCommand,
  files: async () => (await import('./files/command.js')).filesCommand,
  env: async () => (await import('./env/command.js')).envCommand,
  profile: async () => (await import('./profile/command.js')).profileCommand,
  wrap: async () => (await import('./wrap/command.js')).wrapCommand,
  test: async () => (await import('./test/command.js')).testCommand,
  audit: async () => (await import('./audit/command.js')).auditCommand,
  analyze: async () => (await import('./analyze.js')).analyzeCommand,
  doctor: async () => (await import('./doctor/command.js')).doctorCommand,
};

/** Runs one command and resolves to the exit status of the process. Never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let status = 0;
  const given = argv.length === 0 ? defaultArguments() : argv;
  const end = (ended: number) => {
    status = ended;
  };
  try {
    const program = await commandLine(given[0], end);
    await program.parseAsync(given, { from: 'user' });
    return status;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    const error = PungiError.from(thrown);
    process.stderr.write(`pungi: ${printable(error.message)}\n`);
    return exitCodeOfError(error);
  }
}

/** Without arguments, an MCP client on a pipe is served, and a person at a terminal gets the help. */
const defaultArguments = () => (process.stdin.isTTY ? ['--help'] : ['serve']);

async function commandLine(first: string | undefined, end: (status: number) => void): Promise<Command> {
  const program = new Command('pungi')
    .description(
      'Runs Python in a fresh, kernel-sandboxed process: for agents over MCP, and from the command line.',
    )
    .version(VERSION, '-V, --version')
    // An option belongs to the command it follows: "wrap" and its subcommands share some names.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `\nWithout a command, "pungi" serves MCP over stdio, unless standard input is a terminal.\n${EXIT_CODES_HELP}\n\nPungi's own state: pungi doctor`,
    );
  const named = first !== undefined && Object.hasOwn(COMMANDS, first) ? [COMMANDS[first]!] : undefined;
  const needed = named ?? (first === '--version' || first === '-V' ? [] : Object.values(COMMANDS));
  for (const make of await Promise.all(needed.map((load) => load()))) program.addCommand(make(end));
  formatErrors(program, 'pungi');
  return program;
}

function formatErrors(command: Command, path: string): void {
  // Commander suggests names that have little in common; we suggest our own.
  command
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(usageSentence(text, path, command)),
    });
  for (const below of command.commands) formatErrors(below, `${path} ${below.name()}`);
}

/** Adds the help command to Commander's "error: unknown option '--x'". */
function usageSentence(text: string, path: string, command: Command): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  return `pungi: ${sentence}${suggestion(sentence, command)}; see "${path} --help"\n`;
}

function suggestion(sentence: string, command: Command): string {
  const [, kind, word = ''] = /^unknown (command|option) '([^']*)'/.exec(sentence) ?? [];
  if (kind === undefined) return '';
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const known = kind === 'command' ? command.commands.map((one) => one.name()) : [...options, '--help'];
  const meant = similarName(word, known);
  return meant === undefined ? '' : ` (did you mean ${meant}?)`;
}

/** Runs the whole process: one command, then its exit status. */
export async function runProgram(): Promise<never> {
  // A reader that goes away, such as `head`, must not stop the work or cause a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  const status = await runCommandLine(process.argv.slice(2));

  // Pending output is written before the process exits.
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise((done) => stream.write('', () => done(undefined))),
    ),
  );
  process.exit(status);
}
