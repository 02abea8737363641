import { existsSync } from 'node:fs';
import { similarName } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import { Command, Option } from 'commander';
import { type Answer, answer, type Parsed, type Surroundings } from './act.js';
import { addConfigFlags } from './config-flags.js';

export type End = (status: number) => void;

/** What the commands of one group have in common. */
interface Group {
  settings: readonly OptionName[];
  exitCodes: string;
  /** What is said after Ctrl-C, where more than Pungi's own state may have changed. */
  cancelled?: string;
}

export interface Subcommand<Operands extends unknown[], Flags extends Parsed> {
  about: string;
  operands?: [name: string, about: string][];
  options?: Option[];
  settings?: readonly OptionName[];
  defaults?: Partial<Config>;
  help: string;
  run(surroundings: Surroundings, flags: Flags, ...operands: Operands): Promise<Answer>;
}

type MakeSubcommand = <Operands extends unknown[], Flags extends Parsed = Parsed>(
  name: string,
  end: End,
  subcommand: Subcommand<Operands, Flags>,
) => Command;

/** Makes the commands of a group that need no Pungi of their own, with the flags and the behaviour that all of them have. */
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
      const work = (surroundings: Surroundings) => run(surroundings, flags as never, ...(given as never));
      end(await answer(flags, work, group.cancelled));
    });
  };

export const option = (flags: string, about: string): Option => new Option(flags, about);

/** Of a command that takes files as well as commands of its own: a word that is neither, but nearly a command, was meant as one. */
export function refuseMisspelt(command: Command): void {
  const [first = ''] = command.args;
  const commands = command.commands.map((one) => one.name());
  const meant = existsSync(first) ? undefined : similarName(first, commands);
  if (meant === undefined) return;
  const whole = `pungi ${command.name()} ${meant}`;
  command.error(`error: there is no file and no command "${first}" (did you mean "${whole}"?)`);
}
