import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FairTurns } from '../../src/network/fair-turns.js';

/** Work that goes on until it is told to end. */
class Work {
  readonly begun: string[] = [];
  readonly ends = new Map<string, () => void>();

  constructor(private readonly turns: FairTurns) {}

  take(who: object, name: string, signal = new AbortController().signal): Promise<string> {
    return this.turns.take(who, signal, () => {
      this.begun.push(name);
      return new Promise((resolve) => this.ends.set(name, () => resolve(name)));
    });
  }

  async end(name: string): Promise<void> {
    this.ends.get(name)!();
    await settled();
  }
}

const [anna, ben] = [{}, {}];

test('one has as many at a time as one may have, and all together as many as there are', async () => {
  const work = new Work(new FairTurns(3, 2));
  for (const name of ['a1', 'a2', 'a3']) void work.take(anna, name);
  for (const name of ['b1', 'b2']) void work.take(ben, name);
  await settled();
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
});

test('who has the fewest is next, though another came first', async () => {
  const work = new Work(new FairTurns(2, 2));
  for (const name of ['a1', 'a2', 'a3', 'a4']) void work.take(anna, name);
  for (const name of ['b1', 'b2']) void work.take(ben, name);
  await settled();
  await work.end('a1');
  expect(work.begun).toEqual(['a1', 'a2', 'b1']);
  await work.end('a2');
  expect(work.begun.at(-1)).toBe('a3');
  await work.end('a3');
  await work.end('b1');
  expect(new Set(work.begun)).toEqual(new Set(['a1', 'a2', 'b1', 'a3', 'a4', 'b2']));
});

test('what is given up while it waits never begins', async () => {
  const work = new Work(new FairTurns(1, 1));
  void work.take(anna, 'a1');
  const late = new AbortController();
  const given = work.take(anna, 'a2', late.signal);
  void work.take(anna, 'a3');
  late.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await work.end('a1');
  expect(work.begun).toEqual(['a1', 'a3']);
  await expect(work.take(ben, 'b1', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
});

test('what is given up while it goes on leaves its place at once', async () => {
  const work = new Work(new FairTurns(1, 1));
  const late = new AbortController();
  const given = work.take(anna, 'a1', late.signal);
  void work.take(ben, 'b1');
  await settled();
  late.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await settled();
  expect(work.begun).toEqual(['a1', 'b1']);
  await work.end('a1');
  expect(work.begun).toEqual(['a1', 'b1']);
});

test('work that fails leaves its place', async () => {
  const turns = new FairTurns(1, 1);
  const { signal } = new AbortController();
  await expect(turns.take(anna, signal, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await turns.take(anna, signal, async () => 'yes')).toBe('yes');
});
