import { once } from 'node:events';
import { expect } from 'vitest';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import type { TrailWorld, Writing } from './trail-world.js';

/** The most runs that one server answers before it is killed, and the longest that it lives where it answers none. */
const MOST_RUNS = 400;
const LONGEST_MS = 1200;

/**
 * Starts a real Pungi on the same trail again and again and kills it at a random point, until so many runs were
 * answered. Returns the ids of all that were.
 */
export async function killAtRandom(world: TrailWorld, wanted: number): Promise<string[]> {
  const answered: string[] = [];
  for (let round = 0; answered.length < wanted; round += 1) {
    const server = world.start('running', [`${world.folder}-environments`]);
    // At a random time, which may hit the start, or after a random number of runs, which hits the work.
    await (round % 4 === 0 ? randomTime(server) : randomRun(server));
    server.child.kill('SIGKILL');
    expect(await server.exited).toBeNull();
    answered.push(...server.lines().map((line) => line.split(' ')[0]!));
  }
  return answered;
}

const randomTime = (server: Writing) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, Math.random() * LONGEST_MS);
    void server.exited.then(() => resolve());
  });

async function randomRun(server: Writing): Promise<void> {
  const enough = 1 + Math.floor(Math.random() * MOST_RUNS);
  const ended = server.exited.then(() => 'ended');
  while (server.lines().length < enough) {
    if ((await Promise.race([once(server.child.stdout!, 'data'), ended])) === 'ended')
      throw new Error('The server ended by itself.');
  }
}

/** Every run that was answered has its entry, once, and the chain is whole. */
export async function expectAllRecorded(world: TrailWorld, answered: string[]): Promise<void> {
  const reader = await openTrailForReading(world.folder);
  try {
    expect(answered.filter((runId) => reader.get(runId) === undefined)).toEqual([]);
    expect(new Set(answered).size).toBe(answered.length);
    const { problems, entries } = await reader.verify();
    expect(problems).toEqual([]);
    expect(entries).toBeGreaterThan(answered.length);
  } finally {
    reader.close();
  }
}
