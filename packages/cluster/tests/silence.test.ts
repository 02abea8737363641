import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SilenceWatch } from '../src/silence.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('whoever falls silent is lost, and forgotten after a minute', async () => {
  const events: string[] = [];
  const watch = new SilenceWatch(1000, async () => {}, {
    onLost: (name) => events.push(`${name} is lost`),
    onForget: (name) => events.push(`${name} is forgotten`),
  });
  watch.hear('a');
  await vi.advanceTimersByTimeAsync(900);
  expect(events).toEqual([]);
  await vi.advanceTimersByTimeAsync(400);
  expect(events).toEqual(['a is lost']);
  expect(watch.knows('a')).toBe(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(events).toEqual(['a is lost', 'a is forgotten']);
  expect(watch.knows('a')).toBe(false);
  watch.close();
});

test('nobody is lost while nothing can be heard', async () => {
  const events: string[] = [];
  let arrive: () => void = () => {};
  let isCutOff = false;
  const caughtUp = () => (isCutOff ? new Promise<void>((resolve) => (arrive = resolve)) : Promise.resolve());
  const watch = new SilenceWatch(1000, caughtUp, { onLost: (name) => events.push(`${name} is lost`) });
  watch.hear('a');
  watch.hear('b');
  await vi.advanceTimersByTimeAsync(500);
  isCutOff = true;
  await vi.advanceTimersByTimeAsync(3000);
  // What was on its way comes first.
  watch.hear('a');
  isCutOff = false;
  arrive();
  await vi.advanceTimersByTimeAsync(600);
  expect(events).toEqual(['b is lost']);
  await vi.advanceTimersByTimeAsync(500);
  expect(events).toEqual(['b is lost', 'a is lost']);
  watch.close();
});

test('whoever is lost makes room for somebody new, and those who are heard stay', async () => {
  const events: string[] = [];
  const watch = new SilenceWatch(1000, async () => {}, {
    onLost: (name) => events.push(`${name} is lost`),
    onForget: (name) => events.push(`${name} is forgotten`),
  });
  watch.hear('a');
  for (let made = 0; made < 9999; made += 1) watch.hear(`made-up-${made}`);
  watch.hear('one too many');
  expect(watch.knows('one too many')).toBe(false);
  watch.end('made-up-7');
  watch.hear('b');
  expect(events).toEqual(['made-up-7 is lost', 'made-up-7 is forgotten']);
  expect(['a', 'b'].map((name) => watch.isLost(name))).toEqual([false, false]);
  watch.close();
});
