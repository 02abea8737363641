import { expect, test } from 'vitest';
import { outcomeOf } from '../../../tests/support/outcomes.js';
import { PungiError } from '../../core/src/base/errors.js';
import { Outcome } from '../../core/src/contract/outcome.js';
import type { Profile } from '../../core/src/contract/profile.js';
import { fitData, fitOutcome, MAX_REPLY_BYTES } from '../src/fit.js';
import { formatOutcome } from '../src/format-outcome.js';
import { replyError, replyOutcome } from '../src/reply.js';
import { StrategicResult, strategicReply } from '../src/tools/execute-strategic-code.js';

const LIMIT = 10_000;
const BUDGET = { chars: 20_000, imageBytes: 0 };
const none = { text: '', bytes: 0, truncated: false };
const ok = outcomeOf();
const shrink = (outcome: Outcome) => {
  const word = (fitting: Outcome) => ({ content: formatOutcome(fitting), structuredContent: fitting });
  const reply = fitOutcome(outcome, word, LIMIT);
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
    missingPackage: null,
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

const bytesOf = (reply: unknown) => Buffer.byteLength(JSON.stringify(reply));

test('a list that is too long is cut, and a list of long texts as well', () => {
  const word = (data: { items: string[] }) => ({
    content: [{ type: 'text' as const, text: data.items.join('\n') }],
    structuredContent: data,
  });
  const many = fitData({ items: Array.from({ length: 50_000 }, (_, index) => `item-${index}`) }, word, LIMIT);
  expect(bytesOf(many)).toBeLessThanOrEqual(LIMIT);
  expect(many.structuredContent).toMatchObject({ items: expect.arrayContaining(['item-0', 'item-1']) });
  const long = fitData({ items: ['a'.repeat(20_000), 'b'.repeat(20_000)] }, word, LIMIT);
  expect(bytesOf(long)).toBeLessThanOrEqual(LIMIT);
  expect(long.structuredContent).toMatchObject({
    items: [expect.stringContaining('characters cut'), expect.stringContaining('characters cut')],
  });
});

test('packages that could not be installed for a run are cut until the reply fits', () => {
  const why = 'because '.repeat(50);
  const packages = Array.from({ length: 2000 }, (_, index) => ({
    package: `package-${index}`,
    status: 'failed' as const,
    version: null,
    why: `${why}${index}`,
  }));
  const { bytes, outcome } = shrink({
    ...ok,
    verdict: { kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR', message: 'No.', packages },
  });
  expect(bytes).toBeLessThanOrEqual(LIMIT);
  expect(outcome.verdict).toMatchObject({
    packages: expect.arrayContaining([expect.objectContaining({ package: 'package-0' })]),
  });
});

test('an error tells why for each package, once where it is the same, and never without an end', () => {
  const failed = (name: string, why: string | null) => ({
    package: name,
    status: 'failed',
    version: null,
    why,
  });
  const packages = [failed('a', 'There is none.'), failed('b', 'There is none.'), failed('c', null)];
  const { content } = replyError(
    new PungiError('PACKAGE_INSTALLATION_ERROR', 'Nothing changed.', { packages }),
    BUDGET,
  );
  expect(content).toEqual([
    {
      type: 'text',
      text: 'PACKAGE_INSTALLATION_ERROR: Nothing changed.\n- a, b: There is none.\n- c: It could be installed on its own.',
    },
  ]);
  const endless = replyError(
    new PungiError('PACKAGE_INSTALLATION_ERROR', 'No.', {
      packages: Array.from({ length: 200 }, (_, index) => failed(`p${index}`, 'x'.repeat(100_000 + index))),
    }),
    BUDGET,
  );
  expect(bytesOf(endless)).toBeLessThan(100_000);
  expect(JSON.stringify(endless)).toContain('p0: xxx');
});

test('disclosures and violations are cut until the reply fits, with the copies that a strategic reply has of them', () => {
  const violation = (index: number) => ({
    line: index,
    column: 1,
    rule: 'import' as const,
    what: 'os',
    message: `No. ${'because '.repeat(500)}`,
  });
  const long = 'd'.repeat(1_000_000);
  const summary = {
    imports: Array.from({ length: 100_000 }, (_, index) => `module_${index}`),
    reads: [long],
    writes: [],
    plots: false,
    dataFrames: true,
    functions: [],
    lines: 1,
    text: long,
  };
  const outcome: Outcome = {
    ...ok,
    verdict: {
      kind: 'denied',
      code: 'DENIED',
      message: 'Outside.',
      reason: 'Outside.',
      profile: 'diego',
      violations: Array.from({ length: 500 }, (_, index) => violation(index)),
    },
    disclosure: {
      server: 'pungi',
      capability: null,
      profile: 'diego',
      persona: 'diego',
      codeSummary: summary,
      securityLevel: 'sandboxed',
      text: long,
    },
  };
  expect(shrink(outcome).bytes).toBeLessThanOrEqual(LIMIT);
  const persona = { name: 'diego', scopeMessage: 'Outside.', outputStyle: 'full' } as Profile;
  for (const detail of ['short', 'full'] as const) {
    const how = strategicReply(outcome, { persona, capability: 'roi_calculations' }, detail);
    const reply = replyOutcome(outcome, { ...how, detail, budget: BUDGET });
    expect(bytesOf(reply)).toBeLessThanOrEqual(MAX_REPLY_BYTES + 64 * 1024);
    expect(bytesOf([reply.content, reply.structuredContent])).toBeLessThan(BUDGET.chars + 1000);
    const { violations } = reply.structuredContent as StrategicResult;
    expect(violations[0]).toMatchObject({ line: 0, rule: 'import' });
    if (detail === 'full') StrategicResult.parse(reply.structuredContent);
  }
});
