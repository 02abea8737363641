import type { Command } from 'commander';
import { unregister } from '../../wrap/tools-folder/registrations.js';
import { configOf, type End, folderOf, subcommand, TOOLS, type ToolsFlags } from './subcommand.js';

export const remove = (end: End): Command =>
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
