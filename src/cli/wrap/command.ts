import type { Command } from 'commander';
import { refuseMisspelt } from '../misspelt.js';
import { inspect } from './inspect.js';
import { list } from './list.js';
import { remove } from './remove.js';
import type { End } from './subcommand.js';
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
