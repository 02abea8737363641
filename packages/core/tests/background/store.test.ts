import { mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Pungi } from '../../../pungi/src/index.js';
import { RunStore } from '../../src/background/run-store.js';
import { buildOutcome } from '../../src/contract/outcome.js';
import { ANN, BEN, startPungi, temporaryFolder, withPungi } from '../engine/pungi.js';

const SERVER = '00000000-0000-4000-8000-000000000000';
const handle = (number: number) => `run-${String(number).padStart(22, 'x')}`;
const accepted = (run: string, more = {}) => ({
  run,
  owner: 'client ann',
  server: SERVER,
  acceptedAt: new Date().toISOString(),
  ...more,
});
const OK = buildOutcome({ verdict: { kind: 'ok' } });

async function openStore(limits = {}) {
  const folder = join(temporaryFolder(), 'runs');
  const store = new RunStore({ folder, totalBytes: 1 << 20, keptMs: 60_000, ...limits });
  await store.open();
  return { store, folder };
}

test('a caller that fills the store loses its own oldest outcomes, and nobody else does', async () => {
  const { store } = await openStore();
  await store.accept(accepted(handle(0), { owner: 'client ben' }));
  await store.end(handle(0), 'client ben', OK);
  const large = buildOutcome({
    verdict: { kind: 'ok' },
    stdout: { text: 'x'.repeat(100_000), bytes: 100_000, truncated: false },
  });
  for (let number = 1; number <= 10; number += 1) {
    await store.accept(accepted(handle(number), { acceptedAt: new Date(number).toISOString() }));
    await store.end(handle(number), 'client ann', large);
  }
  expect((await store.find(handle(0)))?.owner).toBe('client ben');
  const own = (await store.all()).filter(({ owner }) => owner === 'client ann');
  expect(own.map(({ run }) => run)).toEqual([handle(7), handle(8), handle(9), handle(10)]);
  expect(await store.outcomeOf(handle(10))).toEqual(large);
});

test('callers that fill the store keep nobody from a first run: whoever holds the most makes room', async () => {
  const { store } = await openStore({ totalBytes: 56 * 1024 });
  const keep = async (number: number, owner: string) => {
    await store.accept(accepted(handle(number), { owner, acceptedAt: new Date(number).toISOString() }));
    await store.end(handle(number), owner, OK);
  };
  await keep(1, 'client old');
  for (const number of [2, 3]) await keep(number, 'client greedy');
  for (const number of [4, 5, 6]) await keep(number, `client made up ${number}`);
  await store.accept(accepted(handle(7), { owner: 'client new' }));
  expect(await store.find(handle(2))).toBeUndefined();
  for (const number of [1, 3, 7]) expect((await store.find(handle(number)))?.run).toBe(handle(number));
});

test('where runs under way of others fill the store, runs are refused, and one under way keeps its text', async () => {
  const { store } = await openStore({ totalBytes: 64 * 1024 });
  await store.accept(accepted(handle(1)));
  for (let number = 2; number <= 8; number += 1)
    await store.accept(accepted(handle(number), { owner: `client ${number}` }));
  await expect(store.accept(accepted(handle(9), { owner: 'client x' }))).rejects.toMatchObject({
    code: 'SERVER_BUSY',
    message: expect.stringContaining('BACKGROUND_MB'),
  });
  const shown = { data: { 'image/png': 'x'.repeat(50_000) }, at: { stdout: 0, stderr: 0 } };
  await store.end(handle(1), 'client ann', { ...OK, displays: [shown] });
  const outcome = await store.outcomeOf(handle(1));
  expect(outcome?.displays).toBeUndefined();
  expect(outcome?.notes).toEqual([expect.stringContaining('were not kept')]);
});

test('an outcome is never replaced, and expires', async () => {
  const { store, folder } = await openStore();
  await store.accept(accepted(handle(1)));
  await store.end(handle(1), 'client ann', OK);
  await store.end(handle(1), 'client ann', buildOutcome({ verdict: { kind: 'ok' }, profile: 'other' }));
  expect(await store.outcomeOf(handle(1))).toEqual(OK);
  const old = new Date(Date.now() - 61_000);
  utimesSync(join(folder, `${handle(1)}.ended`), old, old);
  const next = new RunStore({ folder, totalBytes: 1 << 20, keptMs: 60_000 });
  expect(await next.find(handle(1))).toBeUndefined();
  await next.accept(accepted(handle(2)));
  expect(readdirSync(folder)).toEqual([`${handle(2)}.json`]);
});

test('what a killed server left half-written is removed after a while', async () => {
  const { store, folder } = await openStore();
  const draft = `${handle(1)}.json.d6f9.tmp`;
  for (const name of [draft, `${handle(2)}.started`]) {
    writeFileSync(join(folder, name), '{"run');
    utimesSync(join(folder, name), 1, 1);
  }
  writeFileSync(join(folder, `${handle(3)}.json.new.tmp`), '');
  expect(await store.all()).toEqual([]);
  expect(readdirSync(folder)).toEqual([`${handle(3)}.json.new.tmp`]);
});

/** What somebody who can write into the folder might put there; each a record of ann's, or none at all. */
const HOSTILE: [what: string, plant: (folder: string, run: string) => void, seen: string][] = [
  ['no JSON', (folder, run) => writeFileSync(join(folder, `${run}.json`), '{'), 'RUN_NOT_FOUND'],
  [
    'another handle',
    (folder, run) => writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(handle(99)))),
    'RUN_NOT_FOUND',
  ],
  ['a link', (folder, run) => symlinkSync('/etc/passwd', join(folder, `${run}.json`)), 'RUN_NOT_FOUND'],
  ['a folder', (folder, run) => mkdirSync(join(folder, `${run}.json`)), 'RUN_NOT_FOUND'],
  [
    'a server that is a path',
    (folder, run) =>
      writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run, { server: '../../x' }))),
    'RUN_NOT_FOUND',
  ],
  [
    'a huge record',
    (folder, run) =>
      writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run, { more: 'x'.repeat(1e6) }))),
    'RUN_NOT_FOUND',
  ],
  [
    'a server that never was',
    (folder, run) => writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run))),
    'lost',
  ],
  [
    'a lease that is no database',
    (folder, run) => {
      writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run)));
      writeFileSync(join(folder, `server-${SERVER}.lease`), 'x'.repeat(5000));
    },
    'lost',
  ],
  [
    'an outcome that is none',
    (folder, run) => {
      writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run)));
      writeFileSync(join(folder, `${run}.ended`), '{"verdict":{"kind":"ok"}}');
    },
    'lost',
  ],
  [
    'a deep outcome',
    (folder, run) => {
      writeFileSync(join(folder, `${run}.json`), JSON.stringify(accepted(run)));
      writeFileSync(join(folder, `${run}.ended`), '['.repeat(1e6));
    },
    'lost',
  ],
];

test.each(HOSTILE)('a hostile record is no harm: %s', async (_, plant, seen) => {
  const folder = temporaryFolder();
  plant(folder, handle(1));
  await withPungi({ BACKGROUND_DIR: folder }, async (pungi) => {
    const found = await pungi.getRun(handle(1), ANN).then(
      ({ outcome }) => outcome?.verdict.kind,
      (error: { code: string }) => error.code,
    );
    expect(found).toBe(seen);
    await pungi.listRuns(ANN.caller);
    const { run } = await pungi.runInBackground({ code: '1' }, ANN);
    await pungi.cancelRun(run, ANN.caller);
  });
});

test('a server does not end the runs of another one that lives, and sees them end', async () => {
  const settings = { BACKGROUND_DIR: temporaryFolder() };
  const [one, other]: Pungi[] = [startPungi(settings), startPungi(settings)];
  try {
    const { run } = await one!.runInBackground({ code: 'while True: pass' }, ANN);
    expect(await other!.getRun(run, ANN)).toMatchObject({ run, elsewhere: true });
    expect(await other!.listRuns(ANN.caller)).toMatchObject([{ run }]);
    await expect(other!.cancelRun(run, ANN.caller)).rejects.toThrow('cancel it there');
    await expect(other!.getRun(run, BEN)).rejects.toThrow('no such');
    const waiting = other!.getRun(run, { ...ANN, waitMs: 40_000 });
    await one!.cancelRun(run, ANN.caller);
    expect((await waiting).outcome?.verdict.kind).toBe('cancelled');
  } finally {
    await Promise.all([one!.close(), other!.close()]);
  }
});

test('a folder that cannot be used is one clear sentence, and calls still work', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await withPungi({ BACKGROUND_DIR: join(file, 'runs') }, async (pungi) => {
    await expect(pungi.runInBackground({ code: '1' }, ANN)).rejects.toThrow(
      /^Background runs cannot be kept here: ENOTDIR.* set BACKGROUND_DIR\.$/,
    );
    await expect(pungi.listRuns(ANN.caller)).rejects.toThrow(/^Background runs cannot be kept here: ENOTDIR/);
    expect((await pungi.run({ code: '1' })).verdict.kind).toBe('ok');
  });
});
