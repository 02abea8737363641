import { expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { Worker } from '../../src/engine/backend.js';
import { jobOf, sharedEngine } from './engine.js';

const engine = sharedEngine({ poolSize: 1 });
const { signal } = new AbortController();
const acquire = async () => {
  await engine.started;
  return engine.backend.acquire({ ref: undefined }, signal);
};
const figures = () => {
  const { busy, parked } = engine.backend.figures('default')!;
  return { busy, parked };
};

async function printedBy(worker: Worker, code: string): Promise<string> {
  let text = '';
  const { facts } = await worker.run(jobOf(code), 'run', (_, data) => (text += data), signal);
  expect(facts).toMatchObject({ status: 0, killedFor: null });
  return text;
}

test("a worker that its owner keeps runs again, and is nobody else's until it is released", async () => {
  const [worker, other] = [await acquire(), await acquire()];
  expect(await printedBy(worker, 'open("left", "w"); print(1)')).toBe('1\n');
  expect(await printedBy(other, 'print(2)')).toBe('2\n');
  expect(figures().busy).toBe(2);
  expect(await printedBy(worker, 'import os; print(os.listdir())')).toBe("['main.py']\n");
  expect(figures().busy).toBe(2);
  for (const each of [worker, worker, other]) each.release();
  await until(() => figures().busy === 0 && figures().parked === 1, 'both are given back');
});

test('a worker that is released without a run is for the next one', async () => {
  const worker = await acquire();
  worker.release();
  expect(figures().busy).toBe(0);
  const next = await acquire();
  expect(await printedBy(next, 'print(2)')).toBe('2\n');
  next.release();
});

test('output waits for a reader that is not done, and none of it is lost', async () => {
  const [held, other] = [await acquire(), await acquire()];
  const code = 'for n in range(8000): print("x" * 1023)';
  const received = { held: 0, other: 0 };
  let release!: () => void;
  const reading = new Promise<void>((resolve) => {
    release = resolve;
  });
  const take = (_: unknown, data: Buffer) => {
    received.held += data.length;
    return reading;
  };
  const ended = held.run(jobOf(code), 'held', take, signal);
  const count = (_: unknown, data: Buffer) => {
    received.other += data.length;
  };
  await until(() => received.held > 0, 'the first output has arrived');
  await other.run(jobOf(code), 'other', count, signal);
  expect(received.other).toBe(8000 * 1024);
  expect(received.held).toBeLessThan(1024 * 1024);
  release();
  expect((await ended).facts).toMatchObject({ status: 0 });
  expect(received.held).toBe(8000 * 1024);
  for (const each of [held, other]) each.release();
});
