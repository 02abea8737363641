import { Command } from 'commander';
import { exportCommand } from './export.js';
import { list } from './list.js';
import { prune } from './prune.js';
import { replay } from './replay.js';
import { show } from './show.js';
import type { End } from './subcommand.js';
import { verify } from './verify.js';

const HELP = `
Every run, installation, refusal and change of settings is an entry of the audit trail, written before anybody is told of
it, and chained to the entry before. All commands but replay and prune only read, while servers go on writing.

Examples:
  pungi audit list --since 2h --verdict timed-out
  pungi audit show 12
  pungi audit verify
  pungi audit replay 12
  pungi audit export --since 30d -o november.jsonl`;

/** `pungi audit …`: what happened. */
export function auditCommand(end: End): Command {
  const command = new Command('audit')
    .description('list, check, export and replay what was run')
    .addHelpText('after', HELP);
  for (const make of [list, show, verify, exportCommand, replay, prune]) command.addCommand(make(end));
  return command;
}
