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

  test('a call that is interrupted says that its session goes on', async () => {
    const { client } = door();
    const { outcome } = await execute(client, { code: 'x = 1', session: 'new' });
    const session = outcome.session!.id;
    const loop = { code: 'while True: pass', session, timeoutMs: 300 };
    const { texts, structured } = await execute(client, loop);
    expect(texts.at(-1)).toBe('The session goes on, with its variables.');
    expect(structured).toMatchObject({ session, notes: [texts.at(-1)] });
    expect((await execute(client, { code: 'x', session })).texts).toEqual(['1']);
    await call(client, 'end_session', { session });
  });

  test('a checkpoint is saved, listed and restored, also after a crash; a fork is another session', async () => {
    const { client } = door();
    const { outcome } = await execute(client, { code: 'x = 1', session: 'new' });
    const { id: session } = outcome.session!;
    const copy = (args: object) => call(client, 'checkpoint_session', { session, ...args });
    expect((await copy({ action: 'checkpoint' })).text).toBe('checkpoint: c1');
    expect((await call(client, 'list_sessions')).text).toMatch(/: default, 1 run, checkpoints c1, until 2/);
    const crashed = await execute(client, { code: 'import os\nos._exit(1)', session });
    expect(crashed.texts.at(-1)).toMatch(/Restore a checkpoint to go on: c1\.$/);
    expect((await call(client, 'list_sessions')).text).toContain('its process has ended, checkpoints c1');
    expect((await copy({ action: 'restore', checkpoint: 'c1' })).text).toBe('restored: c1');
    const forked = /^session: (session-.*)$/.exec((await copy({ action: 'fork' })).text)![1]!;
    for (const [id, value] of [
      [session, 'x = 10'],
      [forked, 'x = 20'],
    ] as const)
      await execute(client, { code: value, session: id });
    expect((await execute(client, { code: 'x', session })).texts).toEqual(['10']);
    expect((await execute(client, { code: 'x', session: forked })).texts).toEqual(['20']);
    for (const id of [session, forked]) await call(client, 'end_session', { session: id });
    expect((await call(client, 'list_sessions')).text).toBe('There are no sessions.');
  });

  test('what is in the way of a checkpoint, and arguments that make no sense, are said', async () => {
    const { client } = door();
    const code = 'log = open("log.txt", "w")';
    const { id: session } = (await execute(client, { code, session: 'new' })).outcome.session!;
    const { text, isError } = await call(client, 'checkpoint_session', { session, action: 'checkpoint' });
    expect(isError).toBe(true);
    expect(text).toBe(
      "SESSION_NOT_COPIED: The session cannot be copied, and is as before. In the way: open: 'log.txt'.",
    );
    for (const args of [{ action: 'restore' }, { action: 'fork', checkpoint: 'c1' }]) {
      const refused = await call(client, 'checkpoint_session', { session, ...args });
      expect(refused.text).toContain('give checkpoint to restore, and only then');
    }
    await call(client, 'end_session', { session });
  });

  test('an unknown session is an error that says how to start one', async () => {
    const { client } = door();
    const { text, isError } = await call(client, 'end_session', { session: 'session-x' });
    expect(isError).toBe(true);
    expect(text).toContain('SESSION_NOT_FOUND: There is no such session');
    expect(text).toContain('session: "new"');
  });
});
