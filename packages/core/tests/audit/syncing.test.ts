import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TrailWorld } from './trail-world.js';

const hasStrace = spawnSync('strace', ['-qq', '-e', 'trace=none', 'true']).status === 0;

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

/** How often a process that records so many entries waits for the disk. */
async function syncsOf(sync: 'normal' | 'full', entries: number, atOnce: number): Promise<number> {
  const calls = `${world.folder}-calls`;
  const words = ['written', String(entries), String(atOnce), sync];
  const traced = `exec strace -f -qq -e trace=fsync,fdatasync -o '${calls}' "$0" "$@";`;
  const writer = world.start('writing', words, traced);
  expect(await writer.exited).toBe(0);
  expect(writer.lines()).toHaveLength(entries);
  return readFileSync(calls, 'utf8').match(/f(data)?sync\(/g)?.length ?? 0;
}

// What the files hold is the same in both modes: only the system calls tell.
describe.skipIf(!hasStrace)('AUDIT_SYNC', () => {
  test('full waits for the disk with every commit', async () => {
    expect(await syncsOf('full', 60, 1)).toBeGreaterThanOrEqual(60);
  });

  test('full lets what is recorded at once wait together', async () => {
    expect(await syncsOf('full', 60, 60)).toBeLessThan(30);
  });

  test('normal does not wait for it', async () => {
    expect(await syncsOf('normal', 60, 1)).toBeLessThan(30);
  });
});
