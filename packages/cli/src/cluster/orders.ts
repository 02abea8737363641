import type { Command } from 'commander';
import { type End, subcommand, withOperator } from './subcommand.js';

type Order = 'cordon' | 'uncordon' | 'drain';

interface About {
  about: string;
  done: string;
  help: string;
}

const ORDERS: Record<Order, About> = {
  cordon: {
    about: 'let a worker take no more runs; what it has goes on',
    done: 'takes no more runs; its sessions go on',
    help: `  pungi cluster cordon worker-3

Its runs and sessions go on. "uncordon" undoes it; a restart of the worker does, too.`,
  },
  uncordon: {
    about: 'let a worker take runs again',
    done: 'takes runs',
    help: '  pungi cluster uncordon worker-3',
  },
  drain: {
    about: 'let a worker finish what it runs, and end',
    done: 'was drained, and has ended',
    help: `  pungi cluster drain worker-3

The worker takes no more runs and finishes those that it has. Sessions end as soon as nothing runs in
them: their callers get SESSION_ENDED, with the worker as the reason. The command waits until the worker
has ended; Ctrl-C ends the waiting, not the draining.`,
  },
};

const commandFor =
  (order: Order) =>
  (end: End): Command => {
    const { about, done, help } = ORDERS[order];
    return subcommand<[worker: string]>(order, end, {
      about,
      operands: [['<worker>', 'its name, as "pungi cluster status" shows it']],
      help,
      run: ({ steps }, flags, worker) =>
        withOperator(flags, async (operator) => {
          await operator.order(worker, order, steps);
          return { json: { worker, order }, text: `The worker ${worker} ${done}.\n` };
        }),
    });
  };

export const cordon = commandFor('cordon');
export const uncordon = commandFor('uncordon');
export const drain = commandFor('drain');
