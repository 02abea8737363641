import type { ClusterStatus, Operator, SeenFront, SeenWorker } from '@pungi/cluster';
import { countText, durationText, type Style } from '@pungi/core/base';
import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { printJson } from '../run-output.js';
import { type Column, tableOf } from '../terminal.js';
import { type End, option, subcommand, withOperator } from './subcommand.js';

interface Flags extends Parsed {
  watch?: boolean;
}

const WATCH_MS = 1000;
const CLEAR_SCREEN = '\u001b[H\u001b[2J';

export const status = (end: End): Command =>
  subcommand<[], Flags>('status', end, {
    about: 'show workers, front ends and what waits',
    options: [option('-w, --watch', 'show it again every second, until Ctrl-C')],
    help: `  pungi cluster status --cluster nats://nats.example:4222 --creds operator
  pungi cluster status --watch
  pungi cluster status --json

BUSY is runs of slots, QUEUE runs of sessions that wait for a slot, LOAD the machine's average over a
minute, WARM the environments with parked workers. Lines that begin with ! say what is wrong.`,
    run: ({ steps: { signal }, style, width }, flags) =>
      withOperator(flags, async ({ view }) => {
        const look = () => view.status();
        if (!flags.watch) return { json: look(), text: statusText(look(), { style, width }) };
        await watchStatus(view, { signal, style, width, isJson: flags.json });
        return { text: '' };
      }),
  });

interface Watch extends Look {
  signal: AbortSignal;
  /** Shown below. */
  note?: string;
  isJson?: boolean | undefined;
}

/** Shows the status every second, until the signal: on a terminal always in the same place. */
export async function watchStatus(view: Operator['view'], watch: Watch): Promise<void> {
  const { signal, note = '', isJson } = watch;
  const [before, after] = process.stdout.isTTY ? [CLEAR_SCREEN, ''] : ['', '\n'];
  for (; !signal.aborted; await pause(signal))
    if (isJson) printJson(view.status());
    else process.stdout.write(`${before}${statusText(view.status(), watch)}${note}${after}`);
}

const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(done, WATCH_MS);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });

const right = 'right' as const;
const WORKER_COLUMNS: readonly Column[] = [
  { heading: 'WORKER' },
  { heading: 'STATE' },
  { heading: 'VERSION' },
  { heading: 'ARCH' },
  { heading: 'CORES', align: right },
  { heading: 'LOAD', align: right },
  { heading: 'BUSY', align: right },
  { heading: 'QUEUE', align: right },
  { heading: 'SESSIONS', align: right },
  { heading: 'WARM' },
  { heading: 'LABELS' },
];
const FRONT_COLUMNS: readonly Column[] = [
  { heading: 'FRONT END' },
  { heading: 'HOST' },
  { heading: 'VERSION' },
  { heading: 'RUNNING', align: right },
  { heading: 'WAITING', align: right },
];

interface Look {
  style: Style;
  width?: number | undefined;
}

/** The tables of a cluster, its totals, and its problems. */
export function statusText(status: ClusterStatus, look: Look): string {
  const { style } = look;
  const { workers, frontEnds, totals, problems } = status;
  const { ready, cores, slots, busy, sessions, waiting } = totals;
  const total = [
    `${countText(totals.workers, 'worker')} (${ready} ready)`,
    countText(cores, 'core'),
    `${busy} of ${countText(slots, 'slot')} busy`,
    countText(sessions, 'session'),
    `${countText(waiting, 'run')} waiting`,
  ].join(', ');
  return [
    workers.length > 0 ? `${tableOf(WORKER_COLUMNS, workers.map(workerRow), look)}\n` : '',
    frontEnds.length > 0 ? `${tableOf(FRONT_COLUMNS, frontEnds.map(frontRow), look)}\n` : '',
    `Cluster ${style('bold', status.cluster)}: ${total}\n`,
    ...problems.map((problem) => `${style('red', '!')} ${problem}\n`),
  ].join('');
}

function workerRow({ name, state, silentMs, version, details }: SeenWorker): string[] {
  const shown = silentMs === undefined ? state : `silent ${durationText(silentMs)}`;
  if (details === null) return [name, shown, version];
  const { arch, cores, load, busy, slots, queue, sessions, warm, labels } = details;
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
  return [
    ...[name, shown, version, arch, `${cores}`, load.toFixed(1), `${busy}/${slots}`],
    ...[`${queue}`, `${sessions}`, warm.join(','), pairs.join(',')],
  ];
}

const frontRow = ({ front, host, version, queue: { active, waiting } }: SeenFront): string[] => [
  ...[front, host, version, `${active}`, `${waiting}`],
];
