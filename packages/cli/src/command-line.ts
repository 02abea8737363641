import { similarName, VERSION } from '@pungi/core/base';
import { Command, CommanderError } from 'commander';
import { EXIT_CODES_HELP, USAGE } from './exit-codes.js';
import { reportError } from './report-error.js';

type MakeCommand = (end: (status: number) => void) => Command;

/** Loads a command by its name. */
export type Commands = Record<string, () => Promise<MakeCommand>>;

/** Runs one command and resolves to the exit status of the process. Never throws. */
export async function executeCommand(commands: Commands, argv: readonly string[]): Promise<number> {
  let status = 0;
  const given = argv.length === 0 ? defaultArguments() : argv;
  const end = (ended: number) => {
    status = ended;
  };
  try {
    const program = await commandLine(commands, given[0], end);
    await program.parseAsync(given, { from: 'user' });
    return status;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    return reportError(thrown, process.stderr);
  }
}

/** Without arguments, an MCP client on a pipe is served, and a person at a terminal gets the help. */
const defaultArguments = () => (process.stdin.isTTY ? ['--help'] : ['serve']);

async function commandLine(
  commands: Commands,
  first: string | undefined,
  end: (status: number) => void,
): Promise<Command> {
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
  const named = first !== undefined && Object.hasOwn(commands, first) ? [commands[first]!] : undefined;
  const needed = named ?? (first === '--version' || first === '-V' ? [] : Object.values(commands));
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
  if (command.commands.length > 0 && command.registeredArguments.length === 0)
    command.helpCommand(false).addCommand(helpCommand(command));
}

/** Commander's own prints the whole help for a command that does not exist. */
const helpCommand = (parent: Command): Command =>
  new Command('help')
    .description('display help for command')
    .argument('[command...]')
    .action((names: string[]) => {
      let command = parent;
      for (const name of names) {
        const next = command.commands.find((one) => one.name() === name);
        if (next === undefined) command.error(`error: unknown command '${name}'`);
        command = next!;
      }
      command.help();
    });

/** Adds the help command to Commander's "error: unknown option '--x'". */
function usageSentence(text: string, path: string, command: Command): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(' is invalid. ', ' is invalid: ')
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
export async function runProgram(commands: Commands): Promise<never> {
  // The library's processes and timers do not keep the process alive; this timer does until the command ends.
  setInterval(() => {}, 2 ** 30);
  // A reader that goes away, such as `head`, must not stop the work or cause a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  const status = await executeCommand(commands, process.argv.slice(2));

  // Pending output is written before the process exits.
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise((done) => stream.write('', () => done(undefined))),
    ),
  );
  process.exit(status);
}
