/**
 * Runs the rows of one tier as one user, in a process of its own, and prints a RowResult for each.
 * The test bundles it, so that a user who cannot read the repository can run it.
 */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../src/config/schema.js';
import type { Outcome } from '../../src/contract/outcome.js';
import type { RunOptions, RunRequest } from '../../src/contract/run.js';
import { Pungi } from '../../src/pungi.js';
import type { SessionStep } from './attack.js';
import { Bait } from './bait.js';
import { Baseline } from './baseline.js';
import { exitWhenRead } from './exit.js';
import { descendantsOf } from './process-tree.js';
import type { Row, RowResult, TableRun } from './table-run.js';
import { Victim } from './victim.js';

/** Far above any row's own deadline: an answer later than this will not come. */
const NO_ANSWER_MS = 20_000;

const table = JSON.parse(await text(process.stdin)) as TableRun;
const bait = await Bait.lay(table);
let engine = await startEngine();

for (const row of table.rows) process.stdout.write(`${JSON.stringify(await play(row))}\n`);

await engine.pungi.close();
await bait.close();
process.stdout.write(`${JSON.stringify({ closed: true, leftFiles: engine.baseline.leftFiles() })}\n`);
exitWhenRead();

async function startEngine() {
  const pungi = Pungi.start(
    Config.parse({
      python: table.python,
      tier: table.tier,
      cgroups: process.env['CGROUPS'],
      poolSize: 2,
      audit: false,
      maxProcesses: 256,
      maxConcurrentExecutions: 4,
      maxOutputHardBytes: 160 * 1024 * 1024,
      cacheDir: `${table.folder}/cache`,
      artifactDir: `${table.folder}/artifacts`,
      scriptRoots: [bait.scripts],
    }),
  );
  await pungi.ready();
  await pungi.run({ code: 'print(1)' });
  return { pungi, baseline: await Baseline.remember(pungi, tmpdir()) };
}

/** A row that broke the engine must not colour the rows after it. */
async function replaceEngine(): Promise<void> {
  await Promise.race([engine.pungi.close().catch(() => {}), sleep(3000)]);
  process.env['TMPDIR'] = mkdtempSync(`${table.folder}/tmp-`);
  chmodSync(tmpdir(), 0o755);
  engine = await startEngine();
}

async function play(row: Row): Promise<RowResult> {
  const victim = row.victim ? await Victim.start(engine.pungi, table) : undefined;
  const began = performance.now();
  const [outcome, ofBystander] = await Promise.all([
    withPatience(attack(row, victim)),
    row.bystander ? problemsOfBystander() : [],
  ]);
  const tookMs = Math.round(performance.now() - began);
  const problems = [
    ...(outcome ? [] : [`no answer within ${NO_ANSWER_MS} ms`]),
    ...ofBystander,
    ...bait.problems(),
  ];
  if (victim) problems.push(...(await victim.end()));
  const left = [...(await problemsOfNextRun()), ...(await engine.baseline.problems())];
  if (left.length > 0) await replaceEngine();
  problems.push(...left);
  return { name: row.name, outcome, tookMs, problems };
}

function attack(row: Row, victim: Victim | undefined): Promise<Outcome> {
  const { request } = row;
  const context = {
    ...bait.context(),
    tier: table.tier,
    temporaryFolder: tmpdir(),
    runnerPid: process.pid,
    keeperPid: process.ppid,
    treePids: descendantsOf(process.ppid).map(({ pid }) => pid),
    victim: victim?.about ?? null,
    // Without a pid namespace the pid that the victim sees is the one everybody sees.
    victimHostPid: table.tier === 'landlock' ? (victim?.about.pid ?? null) : null,
  };
  const file = request.file === undefined ? {} : { file: request.file.replace('$SCRIPTS', bait.scripts) };
  const abort = new AbortController();
  if (row.cancelAfterMs !== null) setTimeout(() => abort.abort(), row.cancelAfterMs);
  const first = { context, ...request, ...file };
  const options = { signal: abort.signal, onLine: () => {} };
  return row.calls ? inSession(first, row.calls, options) : engine.pungi.run(first, options);
}

/** Makes the calls until the session has ended, and ends it. */
async function inSession(first: RunRequest, calls: readonly SessionStep[], options: RunOptions) {
  const { pungi } = engine;
  let outcome = await pungi.run({ ...first, session: 'new' }, options);
  const session = outcome.session?.id ?? '';
  for (const call of calls) {
    if (typeof call === 'number') await sleep(call);
    else if (typeof call === 'object') await copySession(session, call.copy);
    else if (pungi.sessions().some(({ id, alive }) => id === session && alive))
      outcome = await pungi.run({ code: call, limits: first.limits, session }, options);
  }
  // Also one whose process has ended, and that could be restored.
  if (pungi.sessions().some(({ id }) => id === session)) pungi.endSession(session);
  return outcome;
}

/** What a refused copy says is the variable `refused` of the session. */
async function copySession(session: string, action: 'checkpoint' | 'restore'): Promise<void> {
  const { pungi } = engine;
  const copied = action === 'checkpoint' ? pungi.checkpoint(session) : pungi.restore(session, 'c1');
  const refused = await copied.then(
    () => '',
    (error: Error) => error.message,
  );
  await pungi.run({ code: 'refused = context', context: refused, session });
}

async function withPatience(run: Promise<Outcome>): Promise<Outcome | null> {
  const patience = new AbortController();
  const late = sleep(NO_ANSWER_MS, null, { signal: patience.signal }).catch(() => null);
  const outcome = await Promise.race([run, late]);
  patience.abort();
  return outcome;
}

async function problemsOfNextRun(): Promise<string[]> {
  const next = await withPatience(engine.pungi.run({ code: 'print(1)', limits: { timeoutMs: 5000 } }));
  const isFine = next?.verdict.kind === 'ok' && next.stdout.text === '1\n';
  return isFine ? [] : [`the next run did not work: ${JSON.stringify(next?.verdict)} ${next?.stdout.text}`];
}

/** Takes a full pipe of input and starts a program, like many a script. */
async function problemsOfBystander(): Promise<string[]> {
  await sleep(400);
  const code =
    'import subprocess, sys\nprint(len(sys.stdin.read()))\nsubprocess.run(["/bin/true"], check=True)\n';
  const stdin = 'x'.repeat(60_000);
  const limits = { timeoutMs: 2000, processes: 8 };
  const outcome = await withPatience(
    engine.pungi.run({ code, stdin, limits }, { caller: { client: 'bystander' } }),
  );
  const isFine = outcome?.verdict.kind === 'ok' && outcome.stdout.text === '60000\n';
  return isFine
    ? []
    : [`a run beside it failed: ${JSON.stringify(outcome?.verdict)} ${outcome?.stderr.text.slice(-300)}`];
}
