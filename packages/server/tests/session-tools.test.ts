import { expect, test } from 'vitest';
import { call, execute } from './calls.js';
import { behindEveryDoor } from './doors.js';

behindEveryDoor({}, (door) => {
  test('a session keeps what a call leaves, until it is ended', async () => {
    const { client } = door();
    const first = await execute(client, { code: 'x = 41', session: 'new' });
    const { id } = first.outcome.session!;
    expect(first.texts.at(-1)).toBe(`session: ${id}`);
    const second = await execute(client, { code: 'x += 1\nx', session: id });
    expect(second.texts).toEqual(['42']);
    const { text } = await call(client, 'list_sessions');
    expect(text).toMatch(/^session-.*: default, 2 runs, until 2/);
    expect((await call(client, 'end_session', { session: id })).text).toBe('The session has ended.');
    const late = await execute(client, { code: 'x', session: id });
    expect(late.isError).toBe(true);
    expect(late.texts[0]).toMatch(/^SESSION_ENDED: This session has ended, and its variables are gone\./);
    expect((await call(client, 'list_sessions')).text).toBe('There are no sessions.');
  });

  test('a call that ends its session says so', async () => {
    const { client } = door();
    const { outcome } = await execute(client, { code: 'import os', session: 'new' });
    const { texts } = await execute(client, { code: 'os._exit(0)', session: outcome.session!.id });
    expect(texts.at(-1)).toBe('The session has ended, and its variables are gone. Its process ended.');
  });

  test('an unknown session is an error that says how to start one', async () => {
    const { client } = door();
    const { text, isError } = await call(client, 'end_session', { session: 'session-x' });
    expect(isError).toBe(true);
    expect(text).toContain('SESSION_NOT_FOUND: There is no such session');
    expect(text).toContain('session: "new"');
  });
});
