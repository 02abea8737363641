import { Command, CommanderError } from 'commander';
import { PungiError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import { doctorCommand } from './doctor/command.js';
import { EXIT_CODES_HELP, exitCodeOfError, USAGE } from './exit-codes.js';
import { runCommand } from './run.js';
import { serveCommand } from './serve.js';

/** Runs one command and resolves to the status the process should end with. Never throws. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let status = 0;
  const program = commandLine((ended) => {
    status = ended;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return status;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    const error = PungiError.from(thrown);
    process.stderr.write(`pungi: ${error.message}\n`);
    return exitCodeOfError(error);
  }
}

function commandLine(end: (status: number) => void): Command {
  const program = new Command('pungi')
    .description(
      'Runs Python in a fresh, kernel-sandboxed process: for agents over MCP, and from the command line.',
    )
    .version(VERSION, '-V, --version')
    .addHelpText('after', `${EXIT_CODES_HELP}\n\nPungi's own state: pungi doctor`);
  for (const command of [serveCommand(end), runCommand(end), doctorCommand(end)]) program.addCommand(command);
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      outputError: (text, write) => write(usageSentence(text, command.name())),
    });
  }
  return program;
}

/** Commander says "error: unknown option '--x'"; a person also wants to know where to look. */
function usageSentence(text: string, command: string): string {
  const sentence = text
    .trim()
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '');
  const help = command === 'pungi' ? 'pungi --help' : `pungi ${command} --help`;
  return `pungi: ${sentence}; see "${help}"\n`;
}
