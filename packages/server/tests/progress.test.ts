import { expect, test, vi } from 'vitest';
import { MAX_MESSAGE_CHARS, MESSAGES_PER_SECOND, ProgressStream } from '../src/progress.js';

function stream() {
  const clock = { now: 0 };
  const sent: [number, string][] = [];
  const notify = vi.fn(async (progress: number, message: string) => void sent.push([progress, message]));
  return { clock, sent, notify, progress: new ProgressStream(notify, () => clock.now) };
}

test('slow lines are sent one by one', async () => {
  const { progress, sent } = stream();
  progress.push('a');
  progress.push('b');
  await progress.end();
  expect(sent).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('beyond the rate lines are joined, and the last is sent before the end', async () => {
  const { progress, sent } = stream();
  for (let line = 1; line <= MESSAGES_PER_SECOND + 3; line += 1) progress.push(`${line}`);
  await progress.end();
  expect(sent).toHaveLength(MESSAGES_PER_SECOND + 1);
  expect(sent.at(-1)).toEqual([MESSAGES_PER_SECOND + 3, '51\n52\n53']);
});

test('time earns more messages', async () => {
  const { progress, sent, clock } = stream();
  for (let line = 0; line < MESSAGES_PER_SECOND; line += 1) progress.push('x');
  // Until the first messages are out.
  await new Promise(setImmediate);
  clock.now += 1000 / MESSAGES_PER_SECOND;
  progress.push('later');
  expect(sent.at(-1)).toEqual([MESSAGES_PER_SECOND + 1, 'later']);
  await progress.end();
});

test('a long message is cut', async () => {
  const { progress, sent } = stream();
  progress.push('x'.repeat(1_000_000));
  await progress.end();
  expect(sent).toEqual([[1, `${'x'.repeat(MAX_MESSAGE_CHARS)}…`]]);
});

test('held lines do not grow without limit', async () => {
  const { progress, sent } = stream();
  for (let line = 0; line < 100_000; line += 1) progress.push('y'.repeat(100));
  await progress.end();
  expect(sent).toHaveLength(MESSAGES_PER_SECOND + 1);
  expect(sent.at(-1)?.[1]).toHaveLength(MAX_MESSAGE_CHARS + 1);
});

test('a client that does not read is sent no more', async () => {
  const clock = { now: 0 };
  const notify = vi.fn(() => new Promise<void>(() => {}));
  const progress = new ProgressStream(notify, () => clock.now);
  for (let line = 0; line < 500; line += 1) {
    clock.now += 1000;
    progress.push('z');
  }
  expect(notify.mock.calls.length).toBeLessThanOrEqual(50);
});

test('a client that has gone does not fail the run', async () => {
  const progress = new ProgressStream(() => Promise.reject(new Error('closed')));
  progress.push('a');
  await expect(progress.end()).resolves.toBeUndefined();
});

test('a client whose progress token is longer than any honest one gets no progress', () => {
  const contextWith = (progressToken: unknown) =>
    ({ mcpReq: { _meta: { progressToken } } }) as unknown as Parameters<typeof ProgressStream.for>[0];
  expect(ProgressStream.for(contextWith('x'.repeat(200)))).toBeDefined();
  expect(ProgressStream.for(contextWith(7))).toBeDefined();
  expect(ProgressStream.for(contextWith('x'.repeat(201)))).toBeUndefined();
});
