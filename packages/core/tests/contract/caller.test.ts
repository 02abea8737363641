import { expect, test } from 'vitest';
import { callerOf } from '../../src/contract/caller.js';
import { RunRequest } from '../../src/contract/run.js';

test.each(['caller', 'client', 'token', 'connection'])('a request cannot say its own %s', (field) => {
  expect(RunRequest.safeParse({ code: '1' }).success).toBe(true);
  expect(RunRequest.safeParse({ code: '1', [field]: 'another' }).success).toBe(false);
});

test('a caller without a connection of its own shares one place in the queue under its name, however long', () => {
  const caller = callerOf({ client: 'x'.repeat(500) });
  expect(caller).toEqual({ client: 'x'.repeat(200), token: null, scopes: [], connection: 'x'.repeat(200) });
});
