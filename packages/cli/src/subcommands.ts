import { existsSync } from 'node:fs';
import { similarName } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import { Command, Option } from 'commander';
import { type Answer, answer, type CommandContext, type Parsed } from './act.js';
import { addConfigFlags } from './config-flags.js';

export type End = (status: number) => void;

/** The common part of a group of commands. */
interface Group {
  settings: readonly OptionName[];
  exitCodes: string;
  /** The message after Ctrl-C, if more than Pungi's own state may have changed. */
  cancelled?: string;
}

export interface Subcommand<Operands extends unknown[], Flags extends Parsed> {
  about: string;
  operands?: [name: string, about: string][];
  options?: Option[];
  settings?: readonly OptionName[];
  defaults?: Partial<Config>;
  help: string;
  run(context: CommandContext, flags: Flags, ...operands: Operands): Promise<Answer>;
}

type MakeSubcommand = <Operands extends unknown[], Flags extends Parsed = Parsed>(
  name: string,
  end: End,
  subcommand: Subcommand<Operands, Flags>,
) => Command;

/** Makes the commands of a group that need no Pungi, with the flags that all of them share. */
export const subcommandsOf =
  (group: Group): MakeSubcommand =>
  (name, end, { about, operands = [], options = [], settings = [], defaults, help, run }) => {
    const command = new Command(name).description(about);
    for (const [operand, meaning] of operands) command.argument(operand, meaning);
    for (const option of options) command.addOption(option);
    command.option('--json', 'print the result as JSON on standard output, and nothing else');
    addConfigFlags(command, [...group.settings, ...settings], defaults);
    command.addHelpText('after', `\nExamples:\n${help}\n${group.exitCodes}`);
    return command.action(async () => {
      const flags = command.opts();
      const given = command.processedArgs;
      const work = (context: CommandContext) => run(context, flags as never, ...(given as never));
      end(await answer(flags, work, group.cancelled));
    });
  };

export const option = (flags: string, about: string): Option => new Option(flags, about);

/**
 * For commands that take files or subcommands: an argument that is neither, but resembles a subcommand, is
 * refused.
 */
export function refuseMisspelt(command: Command): void {
  const [first = ''] = command.args;
  const commands = command.commands.map((one) => one.name());
  const meant = existsSync(first) ? undefined : similarName(first, commands);
  if (meant === undefined) return;
  const whole = `pungi ${command.name()} ${meant}`;
  command.error(`error: there is no file and no command "${first}" (did you mean "${whole}"?)`);
}
