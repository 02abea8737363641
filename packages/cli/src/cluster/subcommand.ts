import type { Operator } from '@pungi/cluster';
import type { Parsed } from '../act.js';
import { clusterOf } from '../cluster-settings.js';
import { readConfig } from '../config-flags.js';
import { CLUSTER_EXIT_CODES_HELP } from '../exit-codes.js';
import { subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** One command of `pungi cluster` that needs a running cluster. */
export const subcommand = subcommandsOf({
  settings: ['cluster', 'clusterName', 'creds'],
  exitCodes: CLUSTER_EXIT_CODES_HELP,
  cancelled: 'Cancelled. A worker that has been given an order goes on with it.',
});

/** Connects to the cluster that the flags name. */
export async function withOperator<T>(flags: Parsed, work: (operator: Operator) => Promise<T>): Promise<T> {
  const { address, creds } = await clusterOf(readConfig(flags), 'operator', 'owner', 'front', 'worker');
  const { Operator } = await import('@pungi/cluster');
  const operator = await Operator.connect(address, creds);
  try {
    return await work(operator);
  } finally {
    await operator.close();
  }
}
