import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SilenceWatch } from '../src/silence.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('whoever falls silent is lost, and forgotten after a minute', () => {
  const events: string[] = [];
  const watch = new SilenceWatch(1000, {
    onLost: (name) => events.push(`${name} is lost`),
    onForget: (name) => events.push(`${name} is forgotten`),
  });
  watch.hear('a');
  vi.advanceTimersByTime(900);
  expect(events).toEqual([]);
  vi.advanceTimersByTime(400);
  expect(events).toEqual(['a is lost']);
  expect(watch.knows('a')).toBe(true);
  vi.advanceTimersByTime(60_000);
  expect(events).toEqual(['a is lost', 'a is forgotten']);
  expect(watch.knows('a')).toBe(false);
  watch.close();
});
