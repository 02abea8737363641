/**
 * Plays every attack of runs with a network, as one user, and prints a RowResult for each.
 * The test bundles it, so that a user who cannot read the repository can run it.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { jobOf } from '../../../../tests/support/job.js';
import { until } from '../../../../tests/support/until.js';
import { silentLogger } from '../../src/base/logger.js';
import { DEFAULT_LIMITS, Limits, type RequestedLimits } from '../../src/contract/limits.js';
import { Engine } from '../../src/engine/engine.js';
import { Network } from '../../src/network/network.js';
import type { NetworkDecision } from '../../src/network/run-connections.js';
import { lookupIn } from '../network/names.js';
import { Bait } from './bait.js';
import { exitWhenRead } from './exit.js';
import { descendantsOf } from './process-tree.js';
import type { Row, RowResult, TableRun } from './table-run.js';

/** What the forwarder and the workers need at rest, and room for what is passing. */
const MOST_RESIDENT_KB = 96 * 1024;
const HELLO = 'hello\n';

const table = JSON.parse(await text(process.stdin)) as TableRun;
const bait = await Bait.lay(table);
const { tcpPort } = bait.context();

const connections = new Set<Socket>();
const hanging: IncomingMessage[] = [];
const allowedServer = createServer((request, response) => {
  if (request.url === '/hang') return void hanging.push(request);
  if (request.url === '/redirect') response.writeHead(302, { location: `http://127.0.0.1:${tcpPort}/` });
  response.end('hello');
});
allowedServer.on('connection', (socket) => {
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
});
allowedServer.listen(0, '127.0.0.1');
await once(allowedServer, 'listening');
const allowed = (allowedServer.address() as AddressInfo).port;

const decisions: NetworkDecision[] = [];
const callers: string[] = [];
const network = new Network(
  lookupIn({
    'inside.example': ['127.0.0.1'],
    'both.example': ['93.184.216.34', '127.0.0.1'],
    'mapped.example': ['::ffff:127.0.0.1'],
  }),
);
const hosts = [
  `127.0.0.1:${allowed}`,
  ...['inside.example', 'both.example', 'mapped.example'].flatMap((host) => [host, `${host}:${tcpPort}`]),
];
const engine = new Engine(
  {
    tier: 'namespace',
    python: table.python,
    allowUnsandboxed: false,
    poolSize: 2,
    preload: [],
    preloadTimeoutMs: 60_000,
    memoryMb: 512,
    diskMb: 32,
    maxActive: 8,
    maxQueued: 10,
    idleTimeoutMs: 600_000,
    environment: 'default',
    maxWarm: 4,
    network: async (allowedHosts) => {
      const door = await network.open(allowedHosts, (decision) => decisions.push(decision));
      const admit = (caller: string, run: string) => {
        callers.push(caller);
        return door.admit(caller, run);
      };
      return { ...door, admit };
    },
  },
  silentLogger,
);
await run('print(1)');

for (const row of table.rows) process.stdout.write(`${JSON.stringify(await play(row))}\n`);
await engine.close();
await bait.close();
process.stdout.write(`${JSON.stringify({ closed: true, leftFiles: [] })}\n`);
exitWhenRead();

function run(
  code: string,
  { limits = {}, context = {}, signal, onLine }: RunMore = {},
): ReturnType<Engine['run']> {
  const job = jobOf(code, {
    limits: Limits.parse({ ...DEFAULT_LIMITS, ...limits }),
    variables: { context: { allowed, ...context } },
  });
  const poolSpec = { preload: [], data: [], allowedHosts: hosts };
  return engine.run({ job, poolSpec }, { ...(signal && { signal }), ...(onLine && { onLine }) });
}

interface RunMore {
  limits?: RequestedLimits;
  context?: object;
  signal?: AbortSignal;
  onLine?: (line: { text: string }) => void;
}

async function play({ name, request, victim: wantsVictim }: Row): Promise<RowResult> {
  const victim = wantsVictim ? await startVictim() : undefined;
  decisions.length = 0;
  const context = {
    ...bait.context(),
    tier: 'namespace',
    runnerPid: process.pid,
    treePids: descendantsOf(process.pid).map(({ pid }) => pid),
    victimCaller: victim?.caller ?? null,
  };
  const began = performance.now();
  const outcome = await run(request.code!, { limits: request.limits ?? {}, context });
  const tookMs = Math.round(performance.now() - began);
  const own = new Set([outcome.runId]);
  const recordedForOthers = decisions.filter(
    ({ run, allowed: isAllowed }) => !isAllowed && !own.has(run ?? ''),
  );
  const problems = [
    ...recordedForOthers.map((decision) => `recorded for another run: ${JSON.stringify(decision)}`),
    ...((await victim?.end()) ?? []),
    ...bait.problems(),
    ...(await problemsAfterwards()),
  ];
  return { name, outcome, tookMs, problems };
}

/** What must be so after every row. */
async function problemsAfterwards(): Promise<string[]> {
  // Who does not read does not notice that the other end is gone.
  for (const request of hanging.splice(0)) request.resume();
  const left = await until(() => connections.size === 0, 'no connection is left', 5000).catch(() => false);
  const next = await run(
    `from urllib.request import urlopen\nprint(urlopen(f"http://127.0.0.1:{context['allowed']}/", timeout=5).read().decode())`,
  );
  const isFine = next.verdict.kind === 'ok' && next.stdout.text === HELLO;
  const large = descendantsOf(process.pid)
    .map(({ pid, command }) => ({ pid, command, kb: residentKb(pid) }))
    .filter(({ kb }) => kb > MOST_RESIDENT_KB);
  return [
    ...(left ? [] : [`${connections.size} connections to the host are left`]),
    ...(isFine ? [] : [`the next run did not work: ${JSON.stringify(next.verdict)} ${next.stdout.text}`]),
    ...large.map(({ pid, command, kb }) => `${pid} ${command} has grown to ${kb} kB`),
  ];
}

function residentKb(pid: number): number {
  try {
    return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
}

/** Another run that uses its network all the time; it must go on, and hear nothing from its neighbours. */
async function startVictim() {
  const stop = new AbortController();
  const lines: string[] = [];
  const known = callers.length;
  const ended = run(table.victimCode, {
    limits: { timeoutMs: 120_000, cpuMs: 100_000 },
    signal: stop.signal,
    onLine: ({ text: line }) => lines.push(line.trim()),
  });
  const ticks = () => lines.filter((line) => line === 'tick').length;
  await until(() => ticks() > 0, 'the victim has started');
  return {
    caller: callers[known],
    async end(): Promise<string[]> {
      const before = ticks();
      const goesOn = await until(() => ticks() > before + 2, 'the victim goes on', 8000).catch(() => false);
      stop.abort();
      const { verdict } = await ended;
      return [
        ...lines.filter((line) => line !== 'tick').map((line) => `the victim said "${line}"`),
        ...(goesOn ? [] : ['the victim stopped']),
        ...(verdict.kind === 'cancelled' ? [] : [`the victim ended as ${JSON.stringify(verdict)}`]),
      ];
    },
  };
}
