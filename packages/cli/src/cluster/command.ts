import { Command } from 'commander';
import { demo } from './demo.js';
import { cordon, drain, uncordon } from './orders.js';
import { profilesCommand } from './profiles.js';
import { addCommand, init, remove } from './setup.js';
import { status } from './status.js';
import type { End } from './subcommand.js';
import { wheels } from './wheels.js';

const HELP = `
A cluster runs code on many machines: clients speak to front ends ("pungi serve --cluster"), code runs
on workers ("pungi worker"), and a NATS server is between them. See docs/cluster.md.

Examples:
  pungi cluster demo
  pungi cluster init prod --host nats.example.org --workers 4
  pungi cluster add worker prod
  pungi cluster status --cluster tls://nats.example.org:4222 --creds prod/operator
  pungi cluster wheels ml.lock wheels --cluster tls://nats.example.org:4222 --creds prod/front-1
  pungi cluster drain worker-2 --cluster tls://nats.example.org:4222 --creds prod/operator
  pungi cluster profiles push profiles.yaml --cluster tls://nats.example.org:4222 --creds prod/owner`;

/** `pungi cluster …`: many machines. */
export function clusterCommand(end: End): Command {
  const command = new Command('cluster')
    .description('set up and look after a cluster: code runs on many machines')
    .addHelpText('after', HELP);
  const all = [demo, init, addCommand, remove, status, cordon, uncordon, drain, profilesCommand, wheels];
  for (const make of all) command.addCommand(make(end));
  return command;
}
