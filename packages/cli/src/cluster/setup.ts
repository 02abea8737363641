import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import type { AddedRole, Cluster } from '@pungi/cluster';
import { countText } from '@pungi/core/base';
import { Command, InvalidArgumentError } from 'commander';
import type { Parsed } from '../act.js';
import { CLUSTER_EXIT_CODES_HELP } from '../exit-codes.js';
import { type End, option, subcommandsOf } from '../subcommands.js';

const subcommand = subcommandsOf({ settings: [], exitCodes: CLUSTER_EXIT_CODES_HELP });

const FOLDER: [name: string, about: string] = ['<folder>', 'the folder of the cluster'];

interface InitFlags extends Parsed {
  name: string;
  workers: number;
  fronts: number;
  host?: string[];
  port?: number;
}

export const init = (end: End): Command =>
  subcommand<[folder: string], InitFlags>('init', end, {
    about: 'write keys, certificates and the configuration of NATS into a new folder',
    operands: [['<folder>', 'a new folder']],
    options: [
      option('--name <name>', 'the name of the cluster').default('main'),
      option('--workers <count>', 'machines that run code').argParser(asCount).default(2),
      option('--fronts <count>', 'servers that clients speak to').argParser(asCount).default(1),
      option('--host <hosts...>', 'names or addresses of the NATS server; default: this machine only'),
      option('--port <port>', 'the port of the NATS server; default: 4222').argParser(asPort),
    ],
    help: `  pungi cluster init prod
  pungi cluster init prod --host nats.example.org 10.0.0.5 --workers 4 --fronts 2

Nothing is overwritten.`,
    async run(_, { name, workers, fronts, host = [], port }, folder) {
      const { initCluster } = await import('@pungi/cluster');
      const cluster = initCluster(folder, { name, workers, fronts, hosts: host, ...(port && { port }) });
      const counts = `${countText(workers, 'worker')} and ${countText(fronts, 'front end')}`;
      return {
        json: shown(cluster),
        text: `Wrote the cluster "${name}" into ${folder}: keys of ${counts}.

Start it, each in a terminal:
  cd ${quoted(folder)} && nats-server -c nats.conf
  ${startOf(folder, cluster, 'worker', 'worker-1')}
  ${startOf(folder, cluster, 'front', 'front-1')}

Copy each folder of keys only to its own machine, and keep ${join(folder, 'owner')} to yourself.
`,
      };
    },
  });

/** `pungi cluster add …` */
export function addCommand(end: End): Command {
  const command = new Command('add').description('add a worker, a front end, or a host of the NATS server');
  for (const make of [addWorker, addFront, addHost]) command.addCommand(make(end));
  return command;
}

const addOf =
  (role: AddedRole, about: string, copies: string) =>
  (end: End): Command =>
    subcommand<[folder: string]>(role, end, {
      about,
      operands: [FOLDER],
      help: `  pungi cluster add ${role} prod`,
      async run(_, _flags, folder) {
        const { addMember } = await import('@pungi/cluster');
        const { cluster, added } = addMember(folder, role);
        const text = `Wrote ${join(folder, added.name)}. ${RELOAD}${copies} Then start it:\n  ${startOf(folder, cluster, role, added.name)}\n`;
        return { json: added, text };
      },
    });

const RELOAD = 'Let the NATS server read users.conf again (nats-server --signal reload).';
const COPIES =
  ' Copy front-ends.txt to the operator and to the machines of all workers and front ends, and restart these.';

const addWorker = addOf('worker', 'write the keys of one more worker', '');
const addFront = addOf('front', 'write the keys of one more front end', COPIES);

const addHost = (end: End): Command =>
  subcommand<[folder: string, hosts: string[]]>('host', end, {
    about: 'write a new certificate of the NATS server, for these hosts as well',
    operands: [FOLDER, ['<hosts...>', 'names or addresses']],
    help: '  pungi cluster add host prod nats-2.example.org',
    async run(_, _flags, folder, hosts) {
      const { addHosts } = await import('@pungi/cluster');
      const { cluster, isLocal } = addHosts(folder, hosts);
      const first = isLocal
        ? ` It listens only on this machine: change "host" in ${join(folder, 'nats.conf')} first.`
        : '';
      const text = `Wrote a certificate for ${cluster.hosts.join(', ')}: restart the NATS server.${first}\n`;
      return { json: { hosts: cluster.hosts }, text };
    },
  });

export const remove = (end: End): Command =>
  subcommand<[folder: string, name: string]>('remove', end, {
    about: 'remove the keys of a worker or front end, such as one whose machine was stolen',
    operands: [FOLDER, ['<name>', 'such as worker-2']],
    help: '  pungi cluster remove prod worker-2',
    async run(_, _flags, folder, name) {
      const { removeMember } = await import('@pungi/cluster');
      const { removed } = removeMember(folder, name);
      const text = `Removed ${name}. ${RELOAD}${removed.role === 'front' ? COPIES : ''}\n`;
      return { json: removed, text };
    },
  });

const STARTS: Record<AddedRole, string> = { worker: 'worker', front: 'serve --http' };

function startOf(
  folder: string,
  { hosts: [host = ''], port }: Cluster,
  role: AddedRole,
  name: string,
): string {
  const url = `tls://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return `pungi ${STARTS[role]} --cluster ${url} --creds ${quoted(join(folder, name))}`;
}

/** As a shell reads it. */
const quoted = (path: string): string =>
  /^[\w./+@%-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;

const shown = ({ name, port, hosts, members }: Cluster) => ({
  name,
  port,
  hosts,
  members: members.map(({ role, name: member }) => ({ role, name: member })),
});

function asCount(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('must be a whole number from 1 on.');
}

function asPort(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text) && Number(text) < 65_536) return Number(text);
  throw new InvalidArgumentError('must be a port.');
}
