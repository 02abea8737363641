import { expect, test } from 'vitest';
import { outcomeOf } from '../../../../tests/support/outcomes.js';
import { callerOf } from '../../src/contract/caller.js';
import type { Outcome } from '../../src/contract/outcome.js';
import { OutputStore } from '../../src/pungi/output-store.js';

const storeOf = (outputStoreMb = 1) => new OutputStore({ outputStoreMb, outputStoreSeconds: 60 });

const printed = (runId: string, text: string): Outcome => ({
  ...outcomeOf(),
  runId,
  stdout: { text, bytes: text.length, truncated: false },
});

const alice = callerOf({ client: 'desk 1', token: 'a', connection: 'one' });

test('an output is read by its token, from any connection and client, and by no other', () => {
  const store = storeOf();
  store.keep(alice, printed('run', 'secret'));
  const read = (caller: Parameters<typeof callerOf>[0]) => store.read(callerOf(caller), 'run')?.stdout;
  expect(read({ client: 'desk 1', token: 'a', connection: 'two' })).toBe('secret');
  expect(read({ client: 'subagent 2', token: 'a' })).toBe('secret');
  for (const other of [
    { client: 'desk 1', token: 'b', connection: 'one' },
    { client: 'desk 1', token: null, connection: 'one' },
    { client: 'token a', token: null },
    { client: 'a', token: null },
    {},
  ])
    expect(read(other)).toBeUndefined();
});

test('without tokens, the name of the client decides', () => {
  const store = storeOf();
  store.keep(callerOf({ client: 'desk 1' }), printed('run', 'x'));
  expect(store.read(callerOf({ client: 'desk 1', connection: 'other' }), 'run')).toBeDefined();
  expect(store.read(callerOf({ client: 'other' }), 'run')).toBeUndefined();
});

test('an output ends with its time', () => {
  const store = storeOf();
  store.keep(alice, printed('run', 'x'), 0);
  expect(store.read(alice, 'run', 59_999)).toBeDefined();
  expect(store.read(alice, 'run', 60_000)).toBeUndefined();
  expect(store.size).toBe(0);
});

test('who floods the store pushes out its own outputs, and those of nobody else', () => {
  const store = storeOf();
  const quiet = callerOf({ client: 'quiet' });
  store.keep(quiet, printed('mine', 'x'.repeat(50_000)));
  for (let n = 0; n < 200; n += 1) store.keep(alice, printed(`flood-${n}`, 'y'.repeat(100_000)));
  for (let n = 0; n < 5000; n += 1) store.keep(alice, printed(`small-${n}`, 'y'));
  expect(store.read(quiet, 'mine')?.stdout).toHaveLength(50_000);
  expect(store.read(alice, 'small-4999')).toBeDefined();
  expect(store.read(alice, 'flood-0')).toBeUndefined();
  expect(store.size).toBeLessThan(1100);
});

test('an output that is larger than the store is not kept, and pushes out nothing', () => {
  const store = storeOf();
  store.keep(alice, printed('small', 'x'));
  expect(store.keep(alice, printed('large', 'x'.repeat(600_000)))).toBe(false);
  expect(store.read(alice, 'small')).toBeDefined();
  expect(storeOf(0).keep(alice, printed('run', 'x'))).toBe(false);
});
