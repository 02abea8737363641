import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Lines } from '../src/front/lines.js';

const NEVER = new AbortController().signal;

/** A line of so many, and how many of them were woken so far. */
function lineOf(lines: Lines, need: string, count: number): () => Promise<number> {
  let woken = 0;
  for (let one = 0; one < count; one += 1) void lines.wait(need, NEVER, false).then(() => (woken += 1));
  return async () => {
    await setImmediate();
    return woken;
  };
}

test('a long line is gone after a few steps as long as each one that is woken gets a worker', async () => {
  const lines = new Lines();
  const woken = lineOf(lines, 'any', 100);
  lines.wakeFirst();
  let steps = 0;
  for (let claims = 0; lines.has('any'); steps += 1)
    for (const now = await woken(); claims < now; claims += 1) lines.noteClaim('any');
  expect(await woken()).toBe(100);
  expect(steps).toBeLessThan(12);
});

test('while workers become free one by one, one asks in vain for each of them', async () => {
  const lines = new Lines();
  let woken = 0;
  const wait = (isFirst: boolean) => void lines.wait('any', NEVER, isFirst).then(() => (woken += 1));
  for (let count = 0; count < 20; count += 1) wait(false);
  for (let freed = 1; freed <= 5; freed += 1) {
    lines.wakeFirst();
    lines.noteClaim('any');
    await setImmediate();
    expect(woken).toBe(2 * freed);
    wait(true);
  }
});

test('one that is woken in vain is first again, and one that gives up leaves the line', async () => {
  const lines = new Lines();
  const order: string[] = [];
  const stop = new AbortController();
  const wait = (name: string, isFirst: boolean, signal = NEVER) =>
    void lines.wait('any', signal, isFirst).then(() => order.push(name));
  wait('second', false);
  wait('gone', false, stop.signal);
  wait('third', false);
  wait('first', true);
  stop.abort();
  for (let count = 0; count < 3; count += 1) lines.wakeFirst();
  await setImmediate();
  expect(order).toEqual(['gone', 'first', 'second', 'third']);
  expect(lines.has('any')).toBe(false);
});

test('a line that waits for a rare worker holds no other back', async () => {
  const lines = new Lines();
  const [rare, usual] = [lineOf(lines, 'gpu', 1), lineOf(lines, 'any', 2)];
  lines.noteClaim('any');
  lines.noteClaim('any');
  expect([await rare(), await usual()]).toEqual([0, 2]);
});
