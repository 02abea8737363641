import { describe, expect, test } from 'vitest';
import type { Pungi, RunOptions } from '../../../pungi/src/index.js';
import { openTrailForReading } from '../../../pungi/src/index.js';
import type { RunRecord } from '../../src/contract/audit.js';
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

/** Runs code in a session; returns its value. */
const valueIn = async (pungi: Pungi, session: string, code: string, options: RunOptions = ANN) => {
  const outcome = await pungi.run({ code, session }, options);
  expectOk(outcome);
  return outcome.value?.json;
};

async function startSession(pungi: Pungi, code: string): Promise<string> {
  const outcome = await pungi.run({ code, session: 'new' }, ANN);
  expectOk(outcome);
  return outcome.session!.id;
}

const CRASHES: [string, string, object][] = [
  ['ends its process', 'import os\nos._exit(3)', {}],
  ['crashes', 'import os\nos.kill(os.getpid(), 11)', {}],
  ['needs too much memory', 'held = []\nwhile True: held.append(bytearray(1 << 24))', {}],
  [
    'ignores its interrupt',
    'while True:\n    try:\n        while True: pass\n    except BaseException: pass',
    { limits: { timeoutMs: 300 } },
  ],
];

describe.each(SANDBOXES)('a checkpoint in the %s tier', (tier) => {
  const pungi = pungis[tier];

  test('brings variables and files back, as often as wanted', async () => {
    const id = await startSession(pungi, 'x = [1]\nopen("a.txt", "w").write("one")');
    const made = await pungi.checkpoint(id, ANN.caller);
    expect(made).toEqual({ id, alive: true, calls: 1, checkpoint: 'c1', checkpoints: ['c1'] });
    for (const _ of [1, 2]) {
      await valueIn(pungi, id, 'x.append(2)\nopen("a.txt", "w").write("two")\nopen("b.txt", "w").close()');
      expect(await pungi.restore(id, 'c1', ANN.caller)).toMatchObject({ checkpoint: 'c1', alive: true });
      const look = 'import os\n[x, open("a.txt").read(), os.path.exists("b.txt")]';
      expect(await valueIn(pungi, id, look)).toEqual([[1], 'one', false]);
    }
    expect(pungi.sessions(ANN.caller)).toMatchObject([{ id, checkpoints: ['c1'], alive: true }]);
    pungi.endSession(id, ANN.caller);
    await expect(pungi.restore(id, 'c1', ANN.caller)).rejects.toMatchObject({ code: 'SESSION_ENDED' });
  });

  test.each(CRASHES)('outlives a run that %s', async (_, code, more) => {
    const id = await startSession(pungi, 'x = 1');
    await pungi.checkpoint(id, ANN.caller);
    const crashed = await pungi.run({ code, session: id, ...more }, ANN);
    expect(crashed.session).toMatchObject({ alive: false, checkpoints: ['c1'] });
    expect(crashed.session!.ended).toMatch(/Restore a checkpoint to go on: c1\.$/);
    const { code: refused, message } = verdictOf(
      await pungi.run({ code: 'x', session: id }, ANN),
      'no-session',
    );
    expect(refused).toBe('SESSION_ENDED');
    expect(message.split('Restore a checkpoint to go on: c1.')).toHaveLength(2);
    expect(pungi.sessions(ANN.caller)).toMatchObject([{ id, alive: false, checkpoints: ['c1'] }]);
    expect(await pungi.restore(id, 'c1', ANN.caller)).toMatchObject({ alive: true });
    expect(await valueIn(pungi, id, 'x')).toBe(1);
    pungi.endSession(id, ANN.caller);
  });

  test('also works in a session that has awaited, whose tasks then go on in each copy', async () => {
    const begin =
      'import asyncio\nqueue = asyncio.Queue()\nasync def count():\n    for n in range(10):\n        await queue.put(n)\n        await asyncio.sleep(0)\ntask = asyncio.create_task(count())\nloop = asyncio.get_running_loop()\nawait queue.get()';
    const id = await startSession(pungi, begin);
    await pungi.checkpoint(id, ANN.caller);
    expect(await valueIn(pungi, id, 'await queue.get()')).toBe(1);
    const fork = await pungi.forkSession(id, ANN.caller);
    for (const session of [id, fork.id])
      expect(await valueIn(pungi, session, '[await queue.get(), await queue.get()]')).toEqual([2, 3]);
    await pungi.restore(id, 'c1', ANN.caller);
    expect(await valueIn(pungi, id, 'loop.run_until_complete(queue.get())')).toBe(1);
    const thread =
      'import threading\nevent = asyncio.Event()\nthreading.Timer(0.01, loop.call_soon_threadsafe, [event.set]).start()\nawait event.wait()';
    expect(await valueIn(pungi, id, thread)).toBe(true);
    for (const session of [id, fork.id]) pungi.endSession(session, ANN.caller);
  });

  test('pyarrow starts no thread, which would be in the way', async () => {
    const { value } = await pungi.run({ code: 'import os\nos.environ.get("JE_ARROW_MALLOC_CONF")' }, ANN);
    expect(value?.json).toBe('background_thread:false');
  });

  test('is refused while something cannot be copied, and the session goes on', async () => {
    const id = await startSession(
      pungi,
      'import threading\nstop = threading.Event()\nthread = threading.Thread(target=stop.wait)\nthread.start()\nlog = open("log.txt", "w")',
    );
    await expect(pungi.checkpoint(id, ANN.caller)).rejects.toMatchObject({
      code: 'SESSION_NOT_COPIED',
      message:
        "The session cannot be copied, and is as before. In the way: 1 thread besides the main one; open: 'log.txt'.",
      details: { obstacles: ['1 thread besides the main one', "open: 'log.txt'"] },
    });
    await valueIn(pungi, id, 'stop.set()\nthread.join()\nlog.close()');
    expect(await pungi.checkpoint(id, ANN.caller)).toMatchObject({ checkpoints: [expect.any(String)] });
    pungi.endSession(id, ANN.caller);
  });

  test('a fork is a session of its own, which outlives the first one', async () => {
    const id = await startSession(pungi, 'x = ["base"]\nopen("a.txt", "w").write("base")');
    const fork = await pungi.forkSession(id, ANN.caller);
    expect(fork).toEqual({ id: expect.stringMatching(/^session-/), alive: true, calls: 1 });
    expect(fork.id).not.toBe(id);
    const add = (word: string) =>
      `x.append("${word}")\nopen("a.txt", "a").write("${word}")\n[x, open("a.txt").read()]`;
    const both = await Promise.all([valueIn(pungi, id, add('one')), valueIn(pungi, fork.id, add('two'))]);
    expect(both).toEqual([
      [['base', 'one'], 'baseone'],
      [['base', 'two'], 'basetwo'],
    ]);
    pungi.endSession(id, ANN.caller);
    expect(await valueIn(pungi, fork.id, 'x')).toEqual(['base', 'two']);
    expect(await pungi.checkpoint(fork.id, ANN.caller)).toMatchObject({ alive: true });
    verdictOf(await pungi.run({ code: 'import os\nos._exit(1)', session: fork.id }, ANN), 'exited');
    expect(pungi.sessions(ANN.caller)).toMatchObject([{ id: fork.id, alive: false }]);
    pungi.endSession(fork.id, ANN.caller);
    expect(pungi.sessions(ANN.caller)).toEqual([]);
  });

  test('a crash of one branch leaves the other', async () => {
    const id = await startSession(pungi, 'x = 1');
    const fork = await pungi.forkSession(id, ANN.caller);
    const crashed = await pungi.run({ code: 'import os\nos._exit(1)', session: id }, ANN);
    expect(crashed.session).toEqual({ id, alive: false, calls: 2, ended: expect.any(String) });
    expect(await valueIn(pungi, fork.id, 'x')).toBe(1);
    pungi.endSession(fork.id, ANN.caller);
  });
});

const pungi = pungis.namespace;

test('copies are in the audit trail: who made which, of which session, and not its handle', async () => {
  const env = { AUDIT: 'true', AUDIT_DIR: temporaryFolder() };
  await withPungi(env, async (recording) => {
    const id = await startSession(recording, 'x = 1');
    const { checkpoint } = await recording.checkpoint(id, ANN.caller);
    await recording.restore(id, checkpoint, ANN.caller);
    const { id: forked } = await recording.forkSession(id, ANN.caller);
    expectOk(await recording.run({ code: 'x', session: forked }, ANN));
    await expect(recording.restore(id, 'c7', ANN.caller)).rejects.toThrow('no such checkpoint');
    const trail = await openTrailForReading(env.AUDIT_DIR);
    const entries = trail.list().toReversed();
    expect((await trail.verify()).problems).toEqual([]);
    trail.close();
    const [first, last] = entries.filter(({ kind }) => kind === 'run').map(({ data }) => data as RunRecord);
    const copied = entries.filter(({ kind }) => kind === 'session');
    const session = first!.session!.id;
    expect(copied.map(({ client, data }) => [client, data])).toMatchObject([
      ['ann', { action: 'checkpoint', session, checkpoint, forked: null }],
      ['ann', { action: 'restore', session, checkpoint, forked: null }],
      ['ann', { action: 'fork', session, checkpoint: null, forked: last!.session!.id }],
    ]);
    for (const handle of [id, forked]) expect(JSON.stringify(entries)).not.toContain(handle);
    await expect(recording.replay(copied[0]!)).rejects.toThrow();
  });
});

test('another caller can neither copy nor restore nor fork a session', async () => {
  const id = await startSession(pungi, 'x = 1');
  await pungi.checkpoint(id, ANN.caller);
  for (const call of [
    () => pungi.checkpoint(id, BEN.caller),
    () => pungi.restore(id, 'c1', BEN.caller),
    () => pungi.forkSession(id, BEN.caller),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
  pungi.endSession(id, ANN.caller);
});

test.each(['c2', '', '../c1', 'main', '__proto__'])('%j is no checkpoint', async (checkpoint) => {
  const id = await startSession(pungi, 'x = 1');
  await pungi.checkpoint(id, ANN.caller);
  await expect(pungi.restore(id, checkpoint, ANN.caller)).rejects.toThrow(
    'There is no such checkpoint. It has c1.',
  );
  pungi.endSession(id, ANN.caller);
});

test('a session keeps its newest eight checkpoints, and a fork counts as a session', async () => {
  await withPungi({ MAX_SESSIONS_PER_CALLER: '2' }, async (bounded) => {
    const id = await startSession(bounded, 'x = 1');
    for (const _ of Array(8)) await bounded.checkpoint(id, ANN.caller);
    const { checkpoints } = await bounded.checkpoint(id, ANN.caller);
    expect(checkpoints).toEqual(['c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c9']);
    await expect(bounded.restore(id, 'c1', ANN.caller)).rejects.toThrow('There is no such checkpoint');
    expect(await bounded.restore(id, 'c2', ANN.caller)).toMatchObject({ checkpoints });
    const fork = await bounded.forkSession(id, ANN.caller);
    await expect(bounded.forkSession(id, ANN.caller)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
    expect(await valueIn(bounded, fork.id, 'x')).toBe(1);
  });
});

test('after a restart, a session says so, and its files can be taken along by its caller', async () => {
  const artifactDir = temporaryFolder();
  let id = '';
  await withPungi({ ARTIFACT_DIR: artifactDir }, async (first) => {
    id = await startSession(first, 'x = 1\nopen("a.txt", "w").write("old")\nopen("b.txt", "w").write("b")');
    await valueIn(first, id, 'open("a.txt", "w").write("new")');
  });
  await withPungi({ ARTIFACT_DIR: artifactDir }, async (second) => {
    const { code, message } = verdictOf(await second.run({ code: 'x', session: id }, ANN), 'no-session');
    expect(code).toBe('SESSION_ENDED');
    expect(message).toBe(
      `This session was of an earlier start of the server, and its variables are gone. Start one with session: "new". Its 2 files are kept: take them along with filesOf: "${id}".`,
    );
    const look = 'import os\n[open("a.txt").read(), open("b.txt").read(), open("c.txt").read()]';
    const files = [
      { path: 'c.txt', text: 'given' },
      { path: 'b.txt', text: 'mine' },
    ];
    const outcome = await second.run({ code: look, session: 'new', filesOf: id, files }, ANN);
    expect(outcome.value?.json).toEqual(['new', 'mine', 'given']);
    expect(outcome.artifacts).toBeUndefined();
    for (const [filesOf, options] of [
      [id, BEN],
      [`${id.slice(0, -1)}_`, ANN],
      ['../x', ANN],
    ] as const) {
      const refused = await second.run({ code: '1', filesOf }, options);
      expect(verdictOf(refused, 'invalid').message).toContain('are kept: it left none, or they have expired');
    }
    expect(verdictOf(await second.run({ code: 'x', session: id }, BEN), 'no-session').code).toBe(
      'SESSION_NOT_FOUND',
    );
  });
});
