import { describe, expect, test } from 'vitest';
import type { Outcome, Pungi, RunOptions, RunRequest } from '../../../pungi/src/index.js';
import { openTrailForReading } from '../../../pungi/src/index.js';
import {
  ANN,
  BEN,
  expectOk,
  SANDBOXES,
  sharedPungis,
  temporaryFolder,
  verdictOf,
  withPungi,
} from '../engine/pungi.js';

const pungis = sharedPungis();

/** Starts a session and returns a function that runs in it. */
async function startSession(pungi: Pungi, first = 'None', options: RunOptions = ANN) {
  const outcome = await pungi.run({ code: first, session: 'new' }, options);
  expectOk(outcome);
  const id = outcome.session!.id;
  const run = (code: string, more: Partial<RunRequest> = {}, other: RunOptions = options): Promise<Outcome> =>
    pungi.run({ code, session: id, ...more }, other);
  return { id, run };
}

describe.each(SANDBOXES)('a session in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('keeps variables, and says which session it is and how many runs it had', async () => {
    const { id, run } = await startSession(pungi, 'x = 20');
    const outcome = await run('x + 22');
    expect(outcome.value?.json).toBe(42);
    expect(outcome.session).toEqual({ id, alive: true, calls: 2 });
    expect(id).toMatch(/^session-[\w-]{22}$/);
    pungi.endSession(id, ANN.caller);
  });

  test('survives an exception, an exit, a timeout and a cancelled run', async () => {
    const { run, id } = await startSession(pungi, 'x = [1]');
    verdictOf(await run('x.append(2)\n1 / 0'), 'python-error');
    verdictOf(await run('raise SystemExit(4)'), 'exited');
    verdictOf(await run('x.append(3)\nwhile True: pass', { limits: { timeoutMs: 300 } }), 'timed-out');
    const cancel = new AbortController();
    const cancelled = run(
      'print("begun")\nwhile True: pass',
      {},
      { ...ANN, signal: cancel.signal, onLine: () => cancel.abort() },
    );
    expect(verdictOf(await cancelled, 'cancelled')).toBeDefined();
    expect((await cancelled).session).toMatchObject({ alive: true });
    expect((await run('x')).value?.json).toEqual([1, 2, 3]);
    pungi.endSession(id, ANN.caller);
  });

  test('that runs out of memory ends, and the next run says why', async () => {
    const { run } = await startSession(pungi, 'x = 1');
    const outcome = await run('held = []\nwhile True: held.append(bytearray(1 << 24))');
    verdictOf(outcome, 'memory-exceeded');
    expect(outcome.session).toMatchObject({ alive: false, ended: expect.stringContaining('memory') });
    const { code, message } = verdictOf(await run('x'), 'no-session');
    expect(code).toBe('SESSION_ENDED');
    expect(message).toContain('Its last run ended it: The run needed more than');
  });

  test('ends with its process', async () => {
    const { run } = await startSession(pungi);
    const outcome = await run('import os\nos._exit(0)');
    expect(outcome.session).toMatchObject({ alive: false, ended: 'Its process ended.' });
    expect(verdictOf(await run('1'), 'no-session').code).toBe('SESSION_ENDED');
  });

  test('runs calls in their order', async () => {
    const { run, id } = await startSession(pungi, 'order = []');
    // The first one takes longest to be admitted: its file is looked at.
    const local = { files: [{ path: 'given.ts', from: import.meta.filename }] };
    const first = run('order.append(0)', {}, { ...ANN, local });
    await Promise.all([1, 2, 3, 4, 5].map((number) => run(`order.append(${number})`)));
    await first;
    expect((await run('order')).value?.json).toEqual([0, 1, 2, 3, 4, 5]);
    pungi.endSession(id, ANN.caller);
  });

  test('a signal that comes between two calls is handled by the next one, also beside threads', async () => {
    const { run, id } = await startSession(
      pungi,
      `import signal, threading, time
def ring(*_): raise TimeoutError("ring")
signal.signal(signal.SIGALRM, ring)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()`,
    );
    for (const _ of Array(5)) {
      const set = await run('signal.setitimer(signal.ITIMER_REAL, 0.05)');
      if (set.verdict.kind !== 'ok') continue; // it rang within the call
      const ringing = async () => (await run('1')).verdict.kind;
      await expect.poll(ringing, { timeout: 10_000 }).toBe('python-error');
      expect((await run('2')).value?.json).toBe(2);
    }
    pungi.endSession(id, ANN.caller);
  });

  test('leaves nothing to the next run or session', async () => {
    const { run, id } = await startSession(
      pungi,
      'open("left.txt", "w").write("x")\nimport builtins\nbuiltins.left = 1',
    );
    await run('1');
    pungi.endSession(id, ANN.caller);
    for (const session of [undefined, 'new']) {
      const look = 'import builtins, os\n[hasattr(builtins, "left"), "left.txt" in os.listdir()]';
      const outcome = await pungi.run({ code: look, ...(session && { session }) }, ANN);
      expect(outcome.value?.json).toEqual([false, false]);
      if (outcome.session) pungi.endSession(outcome.session.id, ANN.caller);
    }
  });
});

const pungi = pungis.namespace;

test('another caller does not find a session, whether it lives or has ended', async () => {
  const { run, id } = await startSession(pungi, 'secret = 1');
  expect(verdictOf(await run('secret', {}, BEN), 'no-session').code).toBe('SESSION_NOT_FOUND');
  expect(pungi.sessions(BEN.caller)).toEqual([]);
  expect(() => pungi.endSession(id, BEN.caller)).toThrow('There is no such session');
  expect(pungi.sessions(ANN.caller)).toMatchObject([{ id, calls: 1, busy: false }]);
  pungi.endSession(id, ANN.caller);
  expect(verdictOf(await run('secret', {}, BEN), 'no-session').code).toBe('SESSION_NOT_FOUND');
  expect(verdictOf(await run('secret'), 'no-session')).toMatchObject({
    code: 'SESSION_ENDED',
    message: expect.stringContaining('ended with end_session'),
  });
});

test.each(['session-AAAAAAAAAAAAAAAAAAAAAA', 'NEW', '', '../new', '__proto__'])(
  '%j is no session',
  async (session) => {
    expect(verdictOf(await pungi.run({ code: '1', session }, ANN), 'no-session').code).toBe(
      'SESSION_NOT_FOUND',
    );
  },
);

test('ending a session cancels its run', async () => {
  const { run, id } = await startSession(pungi);
  const ended = run(
    'print("begun")\nwhile True: pass',
    {},
    { ...ANN, onLine: () => pungi.endSession(id, ANN.caller) },
  );
  verdictOf(await ended, 'cancelled');
  expect((await ended).session).toMatchObject({ alive: false });
  expect(verdictOf(await run('1'), 'no-session').code).toBe('SESSION_ENDED');
});

test('a session keeps its environment and profile', async () => {
  const { run, id } = await startSession(pungi);
  const { issues } = verdictOf(await run('1', { venvName: 'other' }), 'invalid');
  expect(issues[0]).toContain('venvName is that of the session, "default"');
  expectOk(await run('1', { venvName: 'default', profile: 'default' }));
  pungi.endSession(id, ANN.caller);
});

test('a profile with rules on code allows no session', async () => {
  const outcome = await pungi.run({ code: '1', session: 'new', profile: 'strategic' }, ANN);
  expect(verdictOf(outcome, 'denied').reason).toContain('it allows no sessions');
});

test('too many sessions are refused, of one caller and of all', async () => {
  await withPungi({ MAX_SESSIONS: '3', MAX_SESSIONS_PER_CALLER: '2' }, async (limited) => {
    const open = (options: RunOptions) => limited.run({ code: '1', session: 'new' }, options);
    const ids = [(await open(ANN)).session!.id, (await open(ANN)).session!.id];
    expect(verdictOf(await open(ANN), 'busy').message).toContain('MAX_SESSIONS_PER_CALLER');
    expectOk(await open(BEN));
    expect(verdictOf(await open(BEN), 'busy').message).toContain('MAX_SESSIONS)');
    limited.endSession(ids[0]!, ANN.caller);
    expectOk(await open(BEN));
  });
});

test('a session that could not begin does not count', async () => {
  await withPungi({ MAX_SESSIONS: '1' }, async (limited) => {
    const outcome = await limited.run({ code: '1', session: 'new', venvName: 'missing' }, ANN);
    verdictOf(outcome, 'no-environment');
    expect(limited.sessions(ANN.caller)).toEqual([]);
    expectOk(await limited.run({ code: '1', session: 'new' }, ANN));
  });
});

test('an unused session ends, and says so', async () => {
  await withPungi({ SESSION_IDLE_MS: '1000' }, async (short) => {
    const { run } = await startSession(short);
    await expect.poll(() => short.sessions(ANN.caller), { timeout: 10_000 }).toEqual([]);
    expect(verdictOf(await run('1'), 'no-session').message).toContain(
      'It was not used for 1 s (SESSION_IDLE_MS)',
    );
  });
});

test('a session whose process is killed from outside is not started again', async () => {
  const { run } = await startSession(pungi, 'import os\nos.kill(os.getpid(), 0)');
  expect((await run('os.kill(os.getpid(), 9)')).session).toMatchObject({ alive: false });
  expect(verdictOf(await run('1'), 'no-session').code).toBe('SESSION_ENDED');
});

test('limits of a run hold for it alone; those on memory are the session’s', async () => {
  const { run, id } = await startSession(pungi);
  verdictOf(await run('import time\ntime.sleep(30)', { limits: { timeoutMs: 200 } }), 'timed-out');
  expectOk(await run('import time\ntime.sleep(0.4)'));
  pungi.endSession(id, ANN.caller);
});

test('the trail records the place of a run in its session and not the handle; such a run is not replayed', async () => {
  const env = { AUDIT: 'true', AUDIT_DIR: temporaryFolder() };
  await withPungi(env, async (recording) => {
    const { id, run } = await startSession(recording);
    await run('2');
    const trail = await openTrailForReading(env.AUDIT_DIR);
    const runs = trail
      .list()
      .filter(({ kind }) => kind === 'run')
      .toReversed();
    trail.close();
    expect(runs.map(({ data }) => data)).toMatchObject([{ session: { call: 1 } }, { session: { call: 2 } }]);
    expect(JSON.stringify(runs)).not.toContain(id);
    await expect(recording.replay(runs[1]!)).rejects.toThrow('it was a run of a session');
  });
});
