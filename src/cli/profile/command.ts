import { Command } from 'commander';
import { check } from './check.js';
import { list } from './list.js';
import { show } from './show.js';
import type { End } from './subcommand.js';

const HELP = `
A profile is a named set of rules for runs: what code may import, its limits, its environment,
its data, its network. Those of your own are in profiles.yaml (or PROFILES_FILE); runs choose one
by name: pungi run --profile diego script.py

Examples:
  pungi profile list
  pungi profile show diego
  pungi profile check profiles.yaml
  pungi profile check --code script.py --profile diego`;

/** `pungi profile …`: the named sets of rules. */
export function profileCommand(end: End): Command {
  const command = new Command('profile')
    .description('list, show and check the rules that runs can be given')
    .addHelpText('after', HELP);
  for (const make of [list, show, check]) command.addCommand(make(end));
  return command;
}
