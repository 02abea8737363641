import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { outcomeOf } from '../../../../tests/support/outcomes.js';
import { Outcome } from '../../../pungi/src/index.js';
import { replyOutcome } from '../../../server/src/reply.js';
import { openTrailForReading } from '../../src/audit/trail-reader.js';
import type { RunRecord } from '../../src/contract/audit.js';
import type { FunctionCall } from '../../src/contract/run.js';
import { expectOk, sharedPungi, startPungi, temporaryFolder, verdictOf } from './pungi.js';

const folder = temporaryFolder();

describe('a call in the audit trail', () => {
  const audit = join(folder, 'audit');
  const pungi = startPungi({ AUDIT: 'true', AUDIT_DIR: audit });
  afterAll(() => pungi.close());
  const code = 'def double(n: int):\n    return n * 2';
  const entryOf = async ({ runId }: Outcome) => {
    const reader = await openTrailForReading(audit);
    try {
      return reader.list().find((entry) => entry.kind === 'run' && entry.data.runId === runId)!;
    } finally {
      reader.close();
    }
  };

  test('is recorded as it was asked for, and repeated from there', async () => {
    const call: FunctionCall = {
      function: 'double',
      arguments: { n: '21' },
      inputSchema: { type: 'object', properties: { n: {} } },
    };
    const outcome = await pungi.run({ code, filename: 'maths.py', call });
    expectOk(outcome);
    const entry = await entryOf(outcome);
    expect((entry.data as RunRecord).inputs).toEqual({ filename: 'maths.py', call });
    const again = await pungi.replay(entry);
    expect(again).toMatchObject({ same: true, differences: [], outcome: { value: { json: 42 } } });
    const other = {
      ...entry,
      data: { ...(entry.data as RunRecord), inputs: { call: { ...call, arguments: { n: 1 } } } },
    };
    expect(await pungi.replay(other as typeof entry)).toMatchObject({
      same: false,
      outcome: { value: { json: 2 } },
    });
  });

  test('that was refused in the sandbox is recorded with its verdict, and repeated', async () => {
    const outcome = await pungi.run({ code, call: { function: 'double', arguments: { n: 'x' } } });
    verdictOf(outcome, 'invalid');
    const entry = await entryOf(outcome);
    expect(entry.data).toMatchObject({
      verdict: { kind: 'invalid', code: 'INVALID_INPUT' },
      outputSha256: expect.any(String),
    });
    expect(await pungi.replay(entry)).toMatchObject({ same: true });
    const call = { function: 'double', arguments: { n: 'y' } };
    const other = { ...entry, data: { ...(entry.data as RunRecord), inputs: { call } } };
    expect(await pungi.replay(other as typeof entry)).toMatchObject({ same: false });
  });
});

describe('a call whose outcome is kept', () => {
  const profiles = join(folder, 'profiles.yaml');
  writeFileSync(profiles, 'profiles:\n  kept: {cache_ttl: 600, deterministic: true}\n');
  const pungi = sharedPungi({ PROFILES_FILE: profiles });

  test('is known by the function and its arguments', async () => {
    const code =
      'import os\ndef f(n=1): return [n, os.urandom(8).hex()]\ndef g(n=1): return [n, os.urandom(8).hex()]';
    const ask = (call?: FunctionCall) => pungi.run({ code, profile: 'kept', ...(call && { call }) });
    const first = await ask({ function: 'f', arguments: { n: 1 } });
    const same = await ask({ function: 'f', arguments: { n: 1 } });
    expect(same).toMatchObject({ cached: { runId: first.runId }, value: first.value });
    for (const other of [
      { function: 'g', arguments: { n: 1 } },
      { function: 'f', arguments: { n: 2 } },
      { function: 'f', arguments: {} },
      undefined,
    ])
      expect((await ask(other)).cached).toBeNull();
  });
});

describe('what a client is told of a call', () => {
  const none = { text: '', bytes: 0, truncated: false };
  const base64 = 'AAAA'.repeat(1_500_000);
  const outcome = (
    content: { kind: 'image' | 'audio' | 'bytes'; mimeType: string; base64: string }[],
  ): Outcome => ({
    ...outcomeOf(),
    stdout: { ...none, text: 'x'.repeat(3_000_000) },
    value: { type: 'dict', repr: '{}', json: {}, content, note: 'something.' },
  });

  const REPLY = {
    style: 'full',
    detail: 'short',
    budget: { chars: 20_000, imageBytes: 6 * 1024 * 1024 },
  } as const;
  const wholeOf = ({ _meta }: ReturnType<typeof replyOutcome>) => Outcome.parse(_meta?.['pungi/outcome']);

  test('pictures, sound and bytes are told once, as what they are, and the note', () => {
    const small = { ...outcome([]), stdout: none };
    small.value!.content = [
      { kind: 'image', mimeType: 'image/png', base64: 'AAAA' },
      { kind: 'audio', mimeType: 'audio/wav', base64: 'BBBB' },
      { kind: 'bytes', mimeType: 'application/pdf', base64: 'CCCC' },
    ];
    const reply = replyOutcome(small, REPLY);
    expect(reply.content).toEqual([
      { type: 'text', text: '{}' },
      { type: 'text', text: 'Note: something.' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
      { type: 'audio', mimeType: 'audio/wav', data: 'BBBB' },
      { type: 'resource', resource: { uri: 'pungi://run/run/2', mimeType: 'application/pdf', blob: 'CCCC' } },
    ]);
    expect(wholeOf(reply).value).toEqual({
      type: 'dict',
      repr: '{}',
      json: {},
      note: 'something.',
    });
  });

  test('texts make room for a picture, which is never cut', () => {
    const reply = replyOutcome(outcome([{ kind: 'image', mimeType: 'image/png', base64 }]), REPLY);
    expect(JSON.stringify(reply).length).toBeLessThan(9.5 * 1024 * 1024);
    expect(reply.content.at(-1)).toMatchObject({ type: 'image', data: base64 });
    expect(JSON.stringify([reply.content[0], reply.structuredContent]).length).toBeLessThan(20_000);
  });

  test('a picture that no message holds is left out, and that is said', () => {
    const large = { kind: 'image' as const, mimeType: 'image/png', base64: base64.repeat(2) };
    const reply = replyOutcome(outcome([large]), REPLY);
    expect(JSON.stringify(reply).length).toBeLessThan(4 * 1024 * 1024);
    expect(wholeOf(reply).value?.note).toBe(
      'something. Pictures and other contents (1) were left out: the reply would be too large.',
    );
  });
});
