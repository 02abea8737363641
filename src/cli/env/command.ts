import { Command } from 'commander';
import { clean } from './clean.js';
import { clone } from './clone.js';
import { create } from './create.js';
import { deleteCommand } from './delete.js';
import { describe } from './describe.js';
import { exportCommand } from './export.js';
import { importCommand } from './import.js';
import { list } from './list.js';
import { install, remove } from './packages.js';
import { show } from './show.js';
import type { End } from './subcommand.js';

const HELP = `
An environment is a name for a Python with packages of its own. Runs choose it by name:
pungi run --env ml script.py
Scripts that name their packages themselves (PEP 723, "# /// script") need none: theirs is made at
the first run.
All commands take --json, and none leaves anything half-made behind, even when it is killed.

Examples:
  pungi env create ml numpy 'pandas>=2' --description 'for the reports'
  pungi env install ml scikit-learn
  pungi run --env ml report.py
  pungi env export ml -o ml.lock
  pungi env import ml2 ml.lock`;

/** `pungi env …`: the named environments. */
export function envCommand(end: End): Command {
  const command = new Command('env')
    .description('create, fill, share and delete named environments')
    .addHelpText('after', HELP);
  const commands = [
    create,
    list,
    show,
    install,
    remove,
    describe,
    clone,
    exportCommand,
    importCommand,
    deleteCommand,
    clean,
  ];
  for (const make of commands) command.addCommand(make(end));
  return command;
}
