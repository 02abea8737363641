import type { Command } from 'commander';
import { unregister } from '../../wrap/tools-folder/registrations.js';
import { refuseMisspelt } from '../subcommands.js';
import { inspect } from './inspect.js';
import { list } from './list.js';
import { configOf, type End, folderOf, subcommand, TOOLS, type ToolsFlags } from './subcommand.js';
import { wrap } from './wrap-file.js';

/** `pungi wrap …`: scripts as tools. What is none of its commands is a file. */
export function wrapCommand(end: End): Command {
  const command = wrap(end)
    .usage('[options] <file | command>')
    .enablePositionalOptions()
    // Told below, since what is too much may belong to a command that is misspelt.
    .allowExcessArguments();
  for (const make of [inspect, list, remove]) command.addCommand(make(end));
  return command.hook('preAction', (_, action) => {
    if (action !== command) return;
    refuseMisspelt(command);
    const count = command.args.length;
    if (count > 1) command.error(`error: too many arguments. Expected 1 argument but got ${count}.`);
  });
}

const remove = (end: End): Command =>
  subcommand<[name: string], ToolsFlags>('remove', end, {
    about: 'no longer offer the tools of a script',
    operands: [['<name>', 'as "pungi wrap list" shows it']],
    options: [TOOLS],
    help: `  pungi wrap remove report

The script itself is not touched; what was changed in its tools file is gone.`,
    async run(_, flags, name) {
      const removed = await unregister(folderOf(configOf(flags)), name);
      return { json: { name, removed }, text: `The tools of "${name}" are no longer offered.\n` };
    },
  });
