import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { machineBackend, machineEnvironments } from '@pungi/core';
import { stateFolder } from '@pungi/core/base';
import type { Config, OptionName } from '@pungi/core/config';
import { defaultBase } from '@pungi/core/environments';
import { Command, Option } from 'commander';
import { openLog } from './act.js';
import { agree, clusterOf } from './cluster-settings.js';
import { addConfigFlags, readConfig } from './config-flags.js';
import { onInterrupt } from './terminal.js';

const SETTINGS: readonly OptionName[] = [
  'cluster',
  'clusterName',
  'creds',
  'workerName',
  'workerLabels',
  'workerDiskMb',
  'venvsBasePath',
  'defaultVenvName',
  'packageTimeoutMs',
  'packageSources',
  'maxEnvironmentMb',
  'uv',
  'maxConcurrentExecutions',
  'maxSessions',
  'maxMemoryMb',
  'maxRequestMemoryMb',
  'maxTotalMemoryMb',
  'maxDiskMb',
  'maxRequestDiskMb',
  'poolSize',
  'preloadModules',
  'preloadTimeoutMs',
  'idleTimeoutMs',
  'systemPackages',
  'python',
  'tier',
  'allowUnsandboxed',
  'cgroups',
  'logLevel',
  'logFormat',
  'logFile',
];

const HELP = `
The worker runs the code that front ends ("pungi serve --cluster URL") have signed; --creds names the
folder with their public keys. It takes MAX_CONCURRENT_EXECUTIONS runs at the same time, and holds
MAX_SESSIONS sessions. Ctrl-C, SIGTERM or "pungi cluster drain" drains it: it takes no more runs,
finishes what it has, ends its sessions, and ends. A second signal ends it at once.`;

export function workerCommand(end: (status: number) => void): Command {
  const command = new Command('worker')
    .description('run code for the front ends of a cluster')
    .addOption(
      new Option(
        '--label <name=value>',
        'what this machine has, such as gpu=true; may be repeated',
      ).argParser((text: string, before: string[] = []) => [...before, text]),
    );
  addConfigFlags(command, SETTINGS).addHelpText('after', HELP);
  return command.action(async (parsed) => end(await work(parsed)));
}

async function work(parsed: Record<string, unknown>): Promise<number> {
  const config = readConfig({ ...parsed, workerLabels: parsed['label'] ?? parsed['workerLabels'] });
  const { address, creds, member } = await clusterOf(config, 'worker');
  const logger = openLog(config);
  const interrupted = new Promise<void>((resolve) => onInterrupt(() => resolve()));
  const { startWorker } = await import('@pungi/cluster');
  const name = agree('worker', config.workerName, member?.name) ?? nameOfHost();
  const backend = machineBackend(config, logger);
  // Named environments of the machine's own users are not those of the cluster.
  const base = config.venvsBasePath ?? join(dirname(defaultBase()), 'cluster', address.name);
  const worker = await startWorker({
    address,
    creds,
    worker: {
      name,
      labels: labelsOf(config),
      slots: config.maxConcurrentExecutions,
      maxSessions: config.maxSessions,
      trail: join(stateFolder(), 'cluster', `${name}.jsonl`),
      diskMb: config.workerDiskMb,
    },
    backend,
    environments: machineEnvironments(config, base, backend, logger),
    logger,
  });
  await Promise.race([interrupted, worker.drainOrdered]);
  await worker.drain();
  return 0;
}

/** Several workers of a host have different names. */
const nameOfHost = () =>
  `${
    hostname()
      .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
      .slice(0, 40) || 'worker'
  }-${randomBytes(3).toString('hex')}`;

const labelsOf = ({ workerLabels }: Config) =>
  Object.fromEntries(workerLabels.map((label) => label.split('=') as [string, string]));
