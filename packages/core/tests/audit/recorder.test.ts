import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TurnCounter } from '../../../../tests/support/turn-counter.js';
import { AuditRecorder } from '../../src/audit/recorder.js';
import { inputsOf, outputSha256 } from '../../src/audit/run-facts.js';
import { silentLogger } from '../../src/base/logger.js';
import { MAX_CODE_BYTES } from '../../src/contract/run.js';
import { someFacts } from './fixtures/outcomes.js';
import { sha256 } from './fixtures/records.js';
import { TrailWorld } from './trail-world.js';

let world: TrailWorld;
beforeEach(() => {
  world = new TrailWorld();
});
afterEach(() => world.end());

describe('a run', () => {
  test('is committed, with all that is known of it, when recording resolves', async () => {
    const inputs = { argv: ['-v'], stdin: 'in', env: { MODE: 'x' }, context: { rows: [1, 2] } };
    const facts = someFacts({ client: 'ann', token: 'ci', inputs, outcome: { profile: 'strict' } });
    await world.record().run(facts);
    const { outcome } = facts;
    expect(await world.newest()).toMatchObject({
      kind: 'run',
      client: 'ann',
      token: 'ci',
      data: {
        runId: outcome.runId,
        code: 'print(1)',
        codeSha256: sha256('print(1)'),
        inputs,
        limits: facts.limits,
        profile: 'strict',
        environment: 'default',
        environmentLock: null,
        verdict: { kind: 'ok', code: null },
        usage: outcome.usage,
        isolation: outcome.isolation,
        outputSha256: outputSha256(outcome),
        cachedFrom: null,
        replayOf: null,
      },
    });
  });

  test('that was answered from what is kept names the run that it repeats', async () => {
    const cached = { runId: 'the-first', at: new Date().toISOString() };
    await world.record().run(someFacts({ outcome: { cached } }));
    expect((await world.newest()).data).toMatchObject({ cachedFrom: 'the-first' });
  });

  test('that was denied is a denial, with each violation', async () => {
    const violation = {
      line: 1,
      column: 1,
      rule: 'import' as const,
      what: 'socket',
      message: 'The profile "strict" does not allow it.',
    };
    const verdict = {
      kind: 'denied' as const,
      code: 'DENIED' as const,
      message: 'Outside of the scope.',
      reason: 'Outside of the scope.',
      violations: [violation],
    };
    const facts = someFacts({ code: 'import socket', outcome: { verdict, profile: 'strict' } });
    await world.record().run(facts);
    expect(await world.newest()).toMatchObject({
      kind: 'denial',
      data: {
        runId: facts.outcome.runId,
        what: 'socket',
        reason: 'Outside of the scope.',
        profile: 'strict',
        code: 'import socket',
        details: { violations: [violation], usage: facts.outcome.usage },
      },
    });
  });

  test('of a request that was refused is recorded, too, without output, and without what is too large', async () => {
    const verdict = { kind: 'invalid' as const, code: 'INVALID_INPUT' as const, message: 'No.', issues: [] };
    const outcome = { verdict, isolation: { tier: null, features: [] }, codeSha256: '', environment: null };
    const recorder = world.record();
    await recorder.run(someFacts({ inputs: null, limits: null, outcome }));
    expect((await world.newest()).data).toMatchObject({ codeSha256: null, outputSha256: null, limits: null });
    const large = '#'.repeat(MAX_CODE_BYTES + 1);
    await recorder.run(someFacts({ code: large, outcome: { ...outcome, codeSha256: sha256(large) } }));
    expect((await world.newest()).data).toMatchObject({ code: null, codeSha256: sha256(large) });
  });

  test('that was refused takes little room, whatever was sent', async () => {
    const recorder = world.record();
    const nothing = { isolation: { tier: null, features: [] } };
    const small = { code: '#'.repeat(64 * 1024), inputs: { stdin: 'small' } };
    await recorder.run(someFacts({ ...small, outcome: nothing }));
    expect((await world.newest()).data).toMatchObject(small);
    const code = '#'.repeat(64 * 1024 + 1);
    await recorder.run(
      someFacts({ code, inputs: { stdin: code }, client: 'c'.repeat(5000), outcome: nothing }),
    );
    expect(await world.newest()).toMatchObject({
      client: 'c'.repeat(200),
      data: { code: null, codeSha256: sha256(code), inputs: null },
    });
    const words = 'w'.repeat(5000);
    const verdict = { kind: 'denied' as const, code: 'DENIED' as const, message: words, reason: words };
    await recorder.run(someFacts({ code, outcome: { ...nothing, verdict } }));
    expect((await world.newest()).data).toMatchObject({ code: null, reason: 'w'.repeat(2000) });
  });

  test.each(['a\0b', 'half \ud800 character', '\x1b]0;title\x07', '#'.repeat(MAX_CODE_BYTES)])(
    'keeps its code as it is (%#)',
    async (code) => {
      const stdin = code.slice(0, 1000);
      const recorder = world.record();
      await recorder.run(someFacts({ code, client: code.slice(0, 50), inputs: { stdin } }));
      expect((await world.newest()).data).toMatchObject({ code, inputs: { stdin } });
      const trail = await world.open();
      expect(await trail.verify()).toMatchObject({ ok: true });
    },
  );

  test('without its code leaves nothing of it, nor of its inputs, in any file', async () => {
    const recorder = world.record({ storeCode: false });
    await recorder.run(someFacts({ code: 'the secret', inputs: { stdin: 'the secret' } }));
    expect((await world.newest()).data).toMatchObject({
      code: null,
      inputs: null,
      codeSha256: sha256('the secret'),
    });
    for (const end of ['', '-wal']) {
      expect(readFileSync(`${world.database}${end}`).includes('the secret')).toBe(false);
    }
  });
});

test('inputs are those of the request, and a file gives its name', () => {
  const { code: _, ...rest } = { code: '1', argv: ['a'], context: null, env: { A: 'b' }, inputData: ['x'] };
  expect(inputsOf({ code: '1', ...rest, limits: {}, fresh: true, profile: 'p' })).toEqual(rest);
  expect(inputsOf({ file: 'reports/sales.py' })).toEqual({ filename: 'sales.py' });
});

describe('other events', () => {
  test('are entries with the lock file that then held', async () => {
    const recorder = world.record();
    const lock = { sha256: sha256('apple==1'), text: 'apple==1' };
    const who = { client: 'ann', token: null };
    await recorder.environment({ ...who, environment: 'ml', action: 'create', details: null }, null);
    const change = {
      requested: ['apple'],
      added: [{ name: 'apple', version: '1' }],
      removed: [],
      error: null,
    };
    await recorder.install({ ...who, environment: 'ml', action: 'install', ...change }, lock);
    await recorder.server('started', { version: '1' });
    const [, created, installed, started] = await world.entries();
    expect(created).toMatchObject({ kind: 'environment', client: 'ann', data: { action: 'create' } });
    expect(installed).toMatchObject({ kind: 'install', data: { ...change, environmentLock: lock.sha256 } });
    expect(started).toMatchObject({ kind: 'server', client: 'pungi', data: { event: 'started' } });
    expect(await recorder.lockText(lock.sha256)).toBe(lock.text);
  });

  test('what a run was denied is recorded once, before the run itself', async () => {
    const recorder = world.record();
    const facts = someFacts();
    const { runId } = facts.outcome;
    const event = {
      client: 'ann',
      token: null,
      reason: 'not listed',
      environment: null,
      profile: 'web',
      runId,
    };
    for (const what of ['a.example', 'b.example', 'a.example', 'a.example'])
      void recorder.denial({ ...event, what });
    await recorder.run(facts);
    const [, ...recorded] = await world.entries();
    expect(recorded.map(({ kind, data }) => [kind, (data as { what?: string }).what])).toEqual([
      ['denial', 'a.example'],
      ['denial', 'b.example'],
      ['run', undefined],
    ]);
    const trail = await world.open();
    expect(trail.get(runId)).toMatchObject({ kind: 'run' });
  });

  test('a run that is denied a thousand things does not fill the disk with them', async () => {
    const recorder = world.record();
    const event = { client: 'ann', token: null, reason: 'no', environment: null, profile: null, runId: 'r' };
    for (let host = 0; host < 1000; host += 1) void recorder.denial({ ...event, what: `${host}.example` });
    await recorder.run(someFacts({ outcome: { runId: 'r' } }));
    expect((await world.entries()).length).toBe(102);
  });
});

test('large inputs of runs that end together are hashed in turns of the event loop of their own', async () => {
  const recorder = world.record();
  await recorder.ready();
  const turns = new TurnCounter();
  const read: number[] = [];
  const runs = Array.from({ length: 5 }, () => {
    const large = {
      inputs: { stdin: 'x'.repeat(2 * 1024 * 1024), context: { toJSON: () => read.push(turns.count) } },
    };
    return recorder.run(someFacts(large as object));
  });
  await Promise.all(runs);
  turns.stop();
  expect(new Set(read).size).toBe(5);
});

test('no trail costs nothing and refuses nothing', async () => {
  const recorder = new AuditRecorder(null, silentLogger);
  await recorder.ready();
  await recorder.run(someFacts());
  await recorder.configuration({});
  await recorder.server('started', null);
  expect([recorder.folder, recorder.problem]).toEqual([null, null]);
  await recorder.close();
});

test('what is recorded while it is closed is either there or refused', async () => {
  const recorder = world.record();
  const facts = someFacts();
  await Promise.all([recorder.run(facts), recorder.close()]);
  await expect(recorder.run(someFacts())).rejects.toMatchObject({ code: 'AUDIT_UNAVAILABLE' });
  expect((await world.newest()).data).toMatchObject({ runId: facts.outcome.runId });
});
