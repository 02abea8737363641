import { PungiError, printable, similarName, VERSION } from '@pungi/core/base';
import { Command, CommanderError } from 'commander';
import { analyzeCommand } from './analyze.js';
import { auditCommand } from './audit/command.js';
import { doctorCommand } from './doctor/command.js';
import { envCommand } from './env/command.js';
import { EXIT_CODES_HELP, exitCodeOfError, USAGE } from './exit-codes.js';
import { profileCommand } from './profile/command.js';
import { runCommand } from './run.js';
import { serveCommand } from './serve.js';
import { testCommand } from './test/command.js';
import { wrapCommand } from './wrap/command.js';

/** Runs one command and resolves to the status the process should end with. Never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = commandLine((ended) => {
    status = ended;
  });
  try {
    await program.parseAsync(argv.length === 0 ? whatIsMeant() : argv, { from: 'user' });
    return status;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    const error = PungiError.from(thrown);
    process.stderr.write(`pungi: ${printable(error.message)}\n`);
    return exitCodeOfError(error);
  }
}

/** Without arguments: an MCP client talks through a pipe and is served; a person at a terminal gets the help. */
const whatIsMeant = () => (process.stdin.isTTY ? ['--help'] : ['serve']);

function commandLine(end: (status: number) => void): Command {
  const program = new Command('pungi')
    .description(
      'Runs Python in a fresh, kernel-sandboxed process: for agents over MCP, and from the command line.',
    )
    .version(VERSION, '-V, --version')
    // An option is that of the command it follows: "wrap" and the commands of it have some that are called alike.
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `\nWithout a command, "pungi" serves MCP over stdio, unless standard input is a terminal.\n${EXIT_CODES_HELP}\n\nPungi's own state: pungi doctor`,
    );
  for (const make of [
    serveCommand,
    runCommand,
    envCommand,
    profileCommand,
    wrapCommand,
    testCommand,
    auditCommand,
    analyzeCommand,
    doctorCommand,
  ]) {
    program.addCommand(make(end));
  }
  wordErrors(program, 'pungi');
  return program;
}

function wordErrors(command: Command, path: string): void {
  // Commander's own suggestions are for names that have little in common.
  command
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(usageSentence(text, path, command)),
    });
  for (const below of command.commands) wordErrors(below, `${path} ${below.name()}`);
}

/** Commander says "error: unknown option '--x'"; a person also wants to know where to look. */
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

/** The whole life of the process: one command, then its status. */
export async function runProgram(): Promise<never> {
  // A reader that goes away, such as `head`, is no reason to leave the work undone, nor for a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

  const status = await runCommandLine(process.argv.slice(2));

  // Whatever is still in the pipes is written before the process ends with its status.
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) => new Promise((done) => stream.write('', () => done(undefined))),
    ),
  );
  process.exit(status);
}
