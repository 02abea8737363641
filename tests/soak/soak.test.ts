import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { VerdictKind } from '../../packages/pungi/src/index.js';
import { descendantsOf, isAlive } from '../support/processes.js';
import { until } from '../support/until.js';
import { type Door, openLibrary, openStdio } from './doors.js';
import { ingredientOf, SETTINGS } from './mixture.js';
import { type Vitals, vitalsOf } from './vitals.js';

/** `SOAK_RUNS=500 npm run soak` is the short form. */
const RUNS = Number(process.env['SOAK_RUNS'] ?? 10_000);
const CONCURRENCY = 8;

/** The tier and the interpreter can be chosen as for a server. */
const chosen = Object.fromEntries(
  ['PUNGI_TIER', 'PUNGI_PYTHON'].map((name) => [name, process.env[name] ?? '']),
);

/** What an allocator may keep without anything leaking. */
const TOLERANCE = { residentMb: 40, heapMb: 4, forkServerMb: 2 };

const DOORS = [
  { name: 'the library', runs: RUNS, open: openLibrary },
  { name: 'MCP over stdio, modern', runs: Math.ceil(RUNS / 10), open: openStdio({ pin: '2026-07-28' }) },
  { name: 'MCP over stdio, legacy', runs: Math.ceil(RUNS / 10), open: openStdio('legacy') },
];

describe.each(DOORS)('$runs runs, mixed with failures, through $name', ({ runs, open }) => {
  const temporary = mkdtempSync(join(tmpdir(), 'soak-'));
  // As root, the sandbox's own user has to pass through it.
  chmodSync(temporary, 0o711);
  let door: Door;
  let expected: Map<VerdictKind, number>;
  let early: Vitals & { heapMb: number };
  let late: Vitals & { heapMb: number };

  beforeAll(async () => {
    vi.stubEnv('TMPDIR', temporary);
    const sizes = { POOL_SIZE: `${CONCURRENCY}`, MAX_CONCURRENT_EXECUTIONS: `${CONCURRENCY}` };
    door = await open({ ...SETTINGS, ...sizes, ...chosen, TMPDIR: temporary, LOG_LEVEL: 'error' });
  });

  afterAll(async () => {
    vi.unstubAllEnvs();
    rmSync(temporary, { recursive: true, force: true });
  });

  test('every run ends as it must', async () => {
    await atRest(door);
    const third = Math.floor(runs / 3);
    const counts = await runMixture(door, 0, third);
    early = { ...(await atRest(door)), heapMb: door.heapMb?.() ?? 0 };
    expected = sum(counts, await runMixture(door, third, runs));
    late = { ...(await atRest(door)), heapMb: door.heapMb?.() ?? 0 };
    const { verdicts } = (await door.health()).metrics;
    expect(verdicts).toEqual(Object.fromEntries(expected));
  });

  test('the server and its fork server are the same ones, and no larger', async () => {
    console.table({ early: flat(early), late: flat(late) });
    expect((await door.health()).pool.restarts).toBe(0);
    expect(late.forkServer.pid).toBe(early.forkServer.pid);
    expect(late.residentMb).toBeLessThan(early.residentMb + TOLERANCE.residentMb);
    expect(late.heapMb).toBeLessThan(early.heapMb + TOLERANCE.heapMb);
    expect(late.forkServer.residentMb).toBeLessThan(early.forkServer.residentMb + TOLERANCE.forkServerMb);
  });

  test('no file stays open, no process alive and no folder behind', () => {
    expect(late.openFiles).toBe(early.openFiles);
    expect(late.forkServer.openFiles).toBe(early.forkServer.openFiles);
    expect(late.forkServer.zombies).toBeLessThanOrEqual(2 * CONCURRENCY);
    expect(late.processes).toBe(early.processes);
    expect(late.temporaryFiles).toEqual(early.temporaryFiles);
  });

  test('after the end there is nothing left', async () => {
    const processes = descendantsOf(door.pid);
    expect(processes.length).toBe(late.processes);
    await door.close();
    await until(() => !processes.some(isAlive), 'every process has ended');
    expect(readdirSync(temporary, { recursive: true })).toEqual([]);
  });

  /** Waits until only parked workers are left, each with its supervisor and template, and looks. */
  async function atRest({ pid, health }: Door): Promise<Vitals> {
    await until(async () => {
      const { pool, queue } = await health();
      return pool.parked === CONCURRENCY && pool.parking === 0 && queue.active === 0;
    }, 'the pool is full again');
    await until(() => {
      const all = descendantsOf(pid);
      const parents = new Set(all.map(({ parent }) => parent));
      const last = all.filter((one) => !parents.has(one.pid));
      // A supervisor has a worker, and in the namespace tier their template. Not as many as are parked at this moment: one that is
      // warmed up is not, and is there all the same.
      const supervisors = new Set(last.map(({ parent }) => parent));
      return supervisors.size === CONCURRENCY && last.length % CONCURRENCY === 0;
    }, 'no process is left but those of parked workers');
    return vitalsOf(pid, temporary);
  }
});

const flat = ({ forkServer, temporaryFiles, ...own }: Vitals) => ({
  ...own,
  temporaryFiles: temporaryFiles.length,
  forkServerMb: forkServer.residentMb,
  forkServerFiles: forkServer.openFiles,
  zombies: forkServer.zombies,
});

/** Runs a part of the mixture, many at once, and counts how it had to end. */
async function runMixture(door: Door, from: number, to: number): Promise<Map<VerdictKind, number>> {
  const counts = new Map<VerdictKind, number>();
  let next = from;
  const client = async () => {
    while (next < to) {
      const run = next++;
      const ingredient = ingredientOf(run);
      counts.set(ingredient.verdict, (counts.get(ingredient.verdict) ?? 0) + 1);
      const outcome = await door.run(ingredient);
      if (outcome === undefined) continue;
      const what = `run ${run} ${ingredient.name}: ${JSON.stringify(outcome.verdict)}`;
      expect(outcome.verdict.kind, what).toBe(ingredient.verdict);
      if (ingredient.stdout !== undefined) expect(outcome.stdout.text, what).toBe(ingredient.stdout);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  return counts;
}

function sum(one: Map<VerdictKind, number>, other: Map<VerdictKind, number>): Map<VerdictKind, number> {
  const kinds = new Set([...one.keys(), ...other.keys()]);
  return new Map([...kinds].map((kind) => [kind, (one.get(kind) ?? 0) + (other.get(kind) ?? 0)]));
}
