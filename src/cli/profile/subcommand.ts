import { Command, Option } from 'commander';
import type { OptionName } from '../../config/schema.js';
import { type Answer, answer, type Parsed, type Surroundings } from '../act.js';
import { addConfigFlags } from '../config-flags.js';
import { PROFILE_EXIT_CODES_HELP } from '../exit-codes.js';

export type End = (status: number) => void;

const PROFILES: readonly OptionName[] = ['profilesFile', 'defaultProfile', 'allowedProfiles'];

interface Subcommand<Operands extends unknown[], Flags extends Parsed> {
  about: string;
  operands: [name: string, about: string][];
  options?: Option[];
  settings?: readonly OptionName[];
  help: string;
  run(surroundings: Surroundings, flags: Flags, ...operands: Operands): Promise<Answer>;
}

/** One command of `pungi profile`, with the flags and the behaviour that all of them have. */
export function subcommand<Operands extends unknown[], Flags extends Parsed = Parsed>(
  name: string,
  end: End,
  { about, operands, options = [], settings = [], help, run }: Subcommand<Operands, Flags>,
): Command {
  const command = new Command(name).description(about);
  for (const [operand, meaning] of operands) command.argument(operand, meaning);
  for (const option of options) command.addOption(option);
  command.option('--json', 'print the result as JSON on standard output, and nothing else');
  addConfigFlags(command, [...PROFILES, ...settings]);
  command.addHelpText('after', `\nExamples:\n${help}\n${PROFILE_EXIT_CODES_HELP}`);
  return command.action(async () => {
    const flags = command.opts<Flags>();
    end(
      await answer(flags, (surroundings) => run(surroundings, flags, ...(command.processedArgs as Operands))),
    );
  });
}

export const option = (flags: string, about: string): Option => new Option(flags, about);
