import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { Trail } from '../src/worker/trail.js';

const folder = temporaryFolder();
const place = { run: 'r', claim: 'c', front: 'f' };
const START = { event: 'started', ...place, code: 'hash' } as const;
const END = { event: 'ended', ...place, stdout: undefined, status: 0, killedFor: null } as const;

test('on a full disk nothing is started, and the end of what runs is owed', () => {
  const trail = new Trail('/dev/full', 'i');
  expect(trail.tryWrite()).toBe(false);
  expect(() => trail.start(START)).toThrow(/ENOSPC/);
  trail.end(END);
  expect(trail.tryWrite()).toBe(false);
  trail.close();
});

test('a line that was written in part is not taken for a whole one, and spoils none that follows', () => {
  const path = join(folder, 'torn.jsonl');
  appendFileSync(path, JSON.stringify({ ...START, run: 'torn' }));
  const trail = new Trail(path, 'i');
  trail.start(START);
  trail.end(END);
  trail.close();
  const whole = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line));
  expect(whole).toEqual([
    { ...START, incarnation: 'i' },
    { event: 'ended', ...place, status: 0, killedFor: null, incarnation: 'i' },
  ]);
});
