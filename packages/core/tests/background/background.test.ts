import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { openTrailForReading, type Pungi, type RunRequest } from '../../../pungi/src/index.js';
import {
  ANN,
  BEN,
  expectOk,
  SANDBOXES,
  sharedPungis,
  startPungi,
  temporaryFolder,
  verdictOf,
  withPungi,
} from '../engine/pungi.js';

const folder = temporaryFolder();
const DIR = { BACKGROUND_DIR: join(folder, 'runs'), ARTIFACT_DIR: join(folder, 'artifacts') };
const pungis = sharedPungis(DIR);
const CAT = { caller: { client: 'cat' } };
const FOREVER = 'print("begun", flush=True)\nwhile True: pass';

/** Waits until the run has ended, as long as that takes. */
async function outcomeOf(pungi: Pungi, run: string, options = ANN) {
  for (;;) {
    const { outcome } = await pungi.getRun(run, { ...options, waitMs: 10_000 });
    if (outcome) return outcome;
  }
}

async function runOf(pungi: Pungi, request: RunRequest) {
  const { run } = await pungi.runInBackground(request, ANN);
  return outcomeOf(pungi, run);
}

/** Starts a run that goes on until it is cancelled. */
async function startForever(pungi: Pungi, options = ANN): Promise<string> {
  const { run } = await pungi.runInBackground({ code: FOREVER }, options);
  await until(
    async () => (await pungi.getRun(run, { ...options, waitMs: 10_000 })).lineCount,
    'it has printed',
  );
  return run;
}

describe.each(SANDBOXES)('a background run in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('has the outcome that a direct run has', async () => {
    const { run } = await pungi.runInBackground({ code: 'print("x")\n6 * 7' }, ANN);
    expect(run).toMatch(/^run-[\w-]{22}$/);
    const outcome = await outcomeOf(pungi, run);
    expectOk(outcome);
    expect(outcome).toMatchObject({ stdout: { text: 'x\n' }, value: { json: 42 } });
    // Again, from disk.
    expect((await pungi.getRun(run, ANN)).outcome).toEqual(outcome);
    verdictOf(await runOf(pungi, { code: '1 / 0' }), 'python-error');
    verdictOf(await runOf(pungi, { code: '1', venvName: 'none' }), 'no-environment');
  });

  test('keeps its displays and files', async () => {
    const code = 'display({"image/svg+xml": "<svg/>"}, raw=True)\nopen("a.txt", "w").write("kept")';
    const outcome = await runOf(pungi, { code });
    expect(outcome.displays).toMatchObject([{ data: { 'image/svg+xml': '<svg/>' } }]);
    expect(outcome.artifacts?.map(({ path }) => path)).toContain('a.txt');
    const { content } = await pungi.readArtifact({ run: outcome.runId, path: 'a.txt' }, ANN.caller);
    expect(content.toString()).toBe('kept');
  });

  test('shows its newest lines, and is cancelled', async () => {
    const run = await startForever(pungi);
    const seen = await pungi.getRun(run, ANN);
    expect(seen).toMatchObject({ run, state: 'running', lines: ['begun'], lineCount: 1 });
    const { outcome } = await pungi.cancelRun(run, ANN.caller);
    expect(verdictOf(outcome!, 'cancelled').message).toBe('The run was cancelled.');
    // A run that has ended stays as it is.
    expect((await pungi.cancelRun(run, ANN.caller)).outcome).toEqual(outcome);
    expect((await pungi.getRun(run, ANN)).outcome).toEqual(outcome);
  });

  test('does not reach the records of runs, of its own caller or of another', async () => {
    const { run } = await pungi.runInBackground({ code: '"secret"' }, CAT);
    await outcomeOf(pungi, run, CAT);
    const paths = [
      DIR.BACKGROUND_DIR,
      `${DIR.BACKGROUND_DIR}/${run}.ended`,
      `${DIR.BACKGROUND_DIR}/${run}.json`,
    ];
    const code = `import os
def reach(path):
    for use in (os.listdir, open, lambda path: open(path, "w"), os.remove, lambda path: os.link(path, "mine")):
        try:
            return repr(use(path))
        except OSError:
            pass
[reach(path) for path in context]`;
    expect((await runOf(pungi, { code, context: paths })).value?.json).toEqual([null, null, null]);
    expect((await pungi.getRun(run, CAT)).outcome?.value?.json).toBe('secret');
  });

  test('takes its turn in a session', async () => {
    const { session } = await pungi.run({ code: 'x = 1', session: 'new' }, ANN);
    const second = await runOf(pungi, { code: 'x += 41\nx', session: session!.id });
    expect(second).toMatchObject({ value: { json: 42 }, session: { calls: 2, alive: true } });
    expect((await pungi.run({ code: 'x', session: session!.id }, ANN)).value?.json).toBe(42);
    pungi.endSession(session!.id, ANN.caller);
  });
});

const pungi = pungis.namespace;

test('only its caller finds, sees and cancels a run', async () => {
  const running = await startForever(pungi);
  const { run: ended } = await pungi.runInBackground({ code: '1' }, ANN);
  await outcomeOf(pungi, ended);
  for (const run of [running, ended, 'run-', '../../etc/passwd', `run-${'x'.repeat(22)}`, '', '\0']) {
    await expect(pungi.getRun(run, { ...BEN, waitMs: 10_000 })).rejects.toThrow('no such background run');
    await expect(pungi.cancelRun(run, BEN.caller)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
  }
  expect(await pungi.listRuns(BEN.caller)).toEqual([]);
  expect((await pungi.getRun(running, ANN)).state).toBe('running');
  const own = await pungi.listRuns(ANN.caller);
  expect(own.slice(0, 2)).toMatchObject([
    { run: ended, state: 'ended' },
    { run: running, state: 'running' },
  ]);
  await pungi.cancelRun(running, ANN.caller);
});

test('files of runs are private', async () => {
  await runOf(pungi, { code: '1' });
  expect(statSync(DIR.BACKGROUND_DIR).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(DIR.BACKGROUND_DIR))
    expect(statSync(join(DIR.BACKGROUND_DIR, name)).mode & 0o777).toBe(0o600);
});

test('may ask for more time than a call, up to MAX_BACKGROUND_TIMEOUT_MS, and CPU time grows with it', async () => {
  const timeoutMs = 5_000_000;
  const { notes } = await runOf(pungi, { code: '1', limits: { timeoutMs } });
  expect(notes).toEqual([
    "timeoutMs was lowered from 5000000 to 3600000, the server's MAX_BACKGROUND_TIMEOUT_MS.",
  ]);
  expect(await runOf(pungi, { code: '1', limits: { timeoutMs: 3_600_000 } })).not.toHaveProperty('notes');
  const short = { ...DIR, EXECUTION_TIMEOUT_MS: '300', MAX_REQUEST_TIMEOUT_MS: '300', MAX_CPU_MS: '300' };
  await withPungi(short, async (strict) => {
    const code = 'import time\nend = time.time() + 1\nwhile time.time() < end: pass';
    verdictOf(await strict.run({ code, limits: { timeoutMs: 9000 } }, ANN), 'timed-out');
    expectOk(await runOf(strict, { code, limits: { timeoutMs: 9000 } }));
  });
});

test('a long poll ends with the run, or with a signal, and none lasts for ever', async () => {
  const run = await startForever(pungi);
  const stops = Array.from({ length: 200 }, () => new AbortController());
  const polls = stops.map(({ signal }) =>
    pungi.getRun(run, { ...ANN, waitMs: Number.POSITIVE_INFINITY, signal }),
  );
  // All but the first few are answered at once.
  await Promise.all(polls.slice(100));
  for (const stop of stops) stop.abort();
  for (const { state } of await Promise.all(polls)) expect(state).toBe('running');
  const waiting = pungi.getRun(run, { ...ANN, waitMs: 40_000 });
  await pungi.cancelRun(run, ANN.caller);
  expect((await waiting).state).toBe('ended');
  await expect(pungi.getRun(run, { ...ANN, waitMs: Number.NaN })).rejects.toThrow('options.waitMs');
});

test('a run that is cancelled as it ends has one outcome', async () => {
  for (let round = 0; round < 10; round += 1) {
    const { run } = await pungi.runInBackground({ code: 'print("x", flush=True)' }, ANN);
    const [first, second] = await Promise.all([
      pungi.getRun(run, { ...ANN, waitMs: round * 3 }).then(() => pungi.cancelRun(run, ANN.caller)),
      outcomeOf(pungi, run),
    ]);
    expect(first.outcome).toEqual(second);
    expect(['ok', 'cancelled']).toContain(second.verdict.kind);
  }
});

test('50 MB of output end the run as they end any other, and few lines of it are held', async () => {
  const code = 'for _ in range(50): print("y" * (1 << 20), flush=True)';
  const outcome = await runOf(pungi, { code });
  verdictOf(outcome, 'output-exceeded');
  expect(outcome.stdout.truncated).toBe(true);
  const { run } = await pungi.runInBackground(
    { code: 'for i in range(100_000): print(i, flush=i == 99_999)\nimport time\ntime.sleep(100)' },
    ANN,
  );
  const seen = await until(async () => {
    const found = await pungi.getRun(run, ANN);
    return found.lineCount === 100_000 ? found : undefined;
  }, 'all lines were heard');
  expect(seen.lines).toHaveLength(100);
  expect(seen.lines!.at(-1)).toBe('99999');
  await pungi.cancelRun(run, ANN.caller);
});

test('one caller has a limited number of runs, and all together have one', async () => {
  const few = { ...DIR, MAX_BACKGROUND_RUNS: '3', MAX_BACKGROUND_PER_CALLER: '2' };
  await withPungi(few, async (limited) => {
    const start = (options = ANN) => limited.runInBackground({ code: 'while True: pass' }, options);
    const { run } = await start();
    await start();
    await expect(start()).rejects.toThrow(
      'You have 2 background runs, which is the limit (MAX_BACKGROUND_PER_CALLER): wait for one with get_run',
    );
    await start(BEN);
    await expect(start(BEN)).rejects.toThrow('The server has 3 background runs');
    await limited.cancelRun(run, ANN.caller);
    await start(BEN);
  });
});

test('background runs leave slots to calls, and to the background runs of other callers', async () => {
  const settings = { ...DIR, MAX_CONCURRENT_EXECUTIONS: '4', MAX_CONCURRENT_PER_CLIENT: '3' };
  await withPungi(settings, async (shared) => {
    const greedy = await Promise.all(
      Array.from({ length: 8 }, () => shared.runInBackground({ code: 'while True: pass' }, ANN)),
    );
    const states = async () =>
      (await Promise.all(greedy.map(({ run }) => shared.getRun(run, ANN)))).map(({ state }) => state);
    await until(async () => (await states()).includes('running'), 'one runs');
    expectOk(await shared.run({ code: '1' }, BEN));
    const { run } = await shared.runInBackground({ code: '1' }, BEN);
    expectOk(await outcomeOf(shared, run, BEN));
    expect((await states()).filter((state) => state === 'running')).toHaveLength(1);
  });
});

test('a server that stops cancels its runs, says so, and the next one has their outcomes', async () => {
  const own = { BACKGROUND_DIR: join(folder, 'stopped') };
  const first = startPungi(own);
  const running = await startForever(first);
  const waiting: string[] = [];
  for (let one = 0; one < 5; one += 1)
    waiting.push((await first.runInBackground({ code: FOREVER }, ANN)).run);
  const poll = first.getRun(running, { ...ANN, waitMs: 50_000 });
  await first.close();
  await expect(first.runInBackground({ code: '1' }, ANN)).rejects.toThrow('shutting down');
  expect((await poll).outcome?.verdict.kind).toBe('cancelled');
  await withPungi(own, async (second) => {
    for (const run of [running, ...waiting]) {
      const { outcome } = await second.getRun(run, ANN);
      expect(verdictOf(outcome!, 'cancelled').message).toBe('The run was cancelled: the server was stopped.');
    }
  });
  expect(readdirSync(own.BACKGROUND_DIR).filter((name) => name.endsWith('.lease'))).toEqual([]);
});

test('each run is in the audit trail, also one that was cancelled while it waited', async () => {
  const audit = join(folder, 'audit');
  const settings = { BACKGROUND_DIR: join(folder, 'audited'), AUDIT: 'true', AUDIT_DIR: audit };
  const ids = await withPungi({ ...settings, MAX_CONCURRENT_EXECUTIONS: '1' }, async (recorded) => {
    const ended = await runOf(recorded, { code: 'print(1)' });
    await startForever(recorded);
    const { run } = await recorded.runInBackground({ code: '2' }, ANN);
    const cancelled = (await recorded.cancelRun(run, ANN.caller)).outcome!;
    verdictOf(cancelled, 'cancelled');
    return [ended.runId, cancelled.runId];
  });
  const trail = await openTrailForReading(audit);
  for (const id of ids) expect(trail.get(id)).toMatchObject({ kind: 'run', client: 'ann' });
  trail.close();
});
