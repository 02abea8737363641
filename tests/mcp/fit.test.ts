import { expect, test } from 'vitest';
import { Outcome } from '../../src/contract/outcome.js';
import { fitOutcome } from '../../src/mcp/fit.js';
import { wordOutcome } from '../../src/mcp/reply.js';

const LIMIT = 10_000;
const none = { text: '', bytes: 0, truncated: false };
const ok: Outcome = {
  runId: 'run',
  verdict: { kind: 'ok' },
  stdout: none,
  stderr: none,
  value: null,
  usage: { wallMs: 1, cpuMs: 1, peakMemoryMb: 1, waitMs: 0 },
  codeSha256: '',
  isolation: { tier: 'namespace', features: [] },
};
const shrink = (outcome: Outcome) => {
  const reply = fitOutcome(outcome, wordOutcome, LIMIT);
  return {
    reply,
    outcome: Outcome.parse(reply.structuredContent),
    bytes: Buffer.byteLength(JSON.stringify(reply)),
  };
};

test('an outcome that fits is repeated as it is', () => {
  expect(shrink({ ...ok, stdout: { ...none, text: 'x'.repeat(4000) } }).outcome.stdout).toEqual({
    ...none,
    text: 'x'.repeat(4000),
  });
});

test.each([
  ['control characters', '\x01'],
  ['lone surrogates', '\ud800'],
  ['pairs of surrogates', '😀'],
  ['quotes', '"'],
])('texts of %s are cut until the reply fits', (_what, unit) => {
  const text = unit.repeat(20_000);
  const { outcome, bytes } = shrink({ ...ok, stdout: { ...none, text }, stderr: { ...none, text } });
  expect(bytes).toBeLessThanOrEqual(LIMIT);
  expect(outcome.stdout.truncated && outcome.stderr.truncated).toBe(true);
  expect(outcome.stdout.text.startsWith(unit) && outcome.stdout.text.endsWith(unit)).toBe(true);
});

test('a cut does not halve a pair of surrogates', () => {
  for (const lead of ['', 'a', 'ab', 'abc']) {
    const { outcome } = shrink({ ...ok, stdout: { ...none, text: lead + '😀'.repeat(9000) } });
    expect(() => encodeURIComponent(outcome.stdout.text)).not.toThrow();
  }
});

test('a value as JSON is whole or absent, and its representation is cut', () => {
  const large = shrink({ ...ok, value: { type: 'str', repr: 'r'.repeat(20_000), json: 'j'.repeat(20_000) } });
  expect(large.outcome.value).not.toHaveProperty('json');
  expect(large.outcome.value?.repr).toContain('characters cut');
  const small = shrink({ ...ok, value: { type: 'list', repr: 'r'.repeat(20_000), json: ['j'] } });
  expect(small.outcome.value?.json).toEqual(['j']);
});

test('a traceback is cut in the verdict and in the text alike', () => {
  const exception = {
    type: 'E',
    message: 'm',
    line: 1,
    column: 1,
    text: '',
    traceback: 't'.repeat(20_000),
    missingModule: null,
    hint: null,
  };
  const { reply, outcome, bytes } = shrink({
    ...ok,
    verdict: { kind: 'python-error', code: 'PYTHON_ERROR', message: 'E: m', exception },
  });
  expect(bytes).toBeLessThanOrEqual(LIMIT);
  expect(outcome.verdict).toMatchObject({
    exception: { traceback: expect.stringContaining('characters cut') },
  });
  expect(JSON.stringify(reply.content)).toContain('characters cut');
});
