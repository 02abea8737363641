import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { outcomeOf } from '../../../tests/support/outcomes.js';
import { type Outcome, Verdict } from '../../core/src/contract/outcome.js';
import { VERDICT_KINDS } from '../../core/src/contract/verdicts.js';
import { replyOutcome } from '../src/reply.js';
import { advertiseArguments } from '../src/tools/advertise.js';
import { RUN_RESULT } from '../src/tools/execute-python.js';

const told = (schema: z.ZodType) => advertiseArguments(schema);

test('arguments keep their names, types, choices, defaults and sentences, and lose their bounds', () => {
  const schema = z.strictObject({
    count: z.number().int().positive().max(9).describe('How many.'),
    kind: z.enum(['a', 'b']).default('a'),
    words: z.array(z.string().regex(/^x/).max(3)).min(1).optional(),
    map: z.record(z.string(), z.string()),
    anything: z.record(z.string(), z.unknown()),
  });
  expect(told(schema)).toEqual({
    type: 'object',
    properties: {
      count: { type: 'integer', maximum: 9, description: 'How many.' },
      kind: { type: 'string', enum: ['a', 'b'], default: 'a' },
      words: { type: 'array', items: { type: 'string' } },
      map: { type: 'object', additionalProperties: { type: 'string' } },
      anything: { type: 'object' },
    },
    required: ['count', 'map', 'anything'],
  });
});

const exception = {
  type: 'ValueError',
  message: 'bad',
  line: 1,
  column: null,
  text: null,
  traceback: 'ValueError: bad',
  missingModule: null,
  missingPackage: null,
  hint: null,
};
const violation = { line: null, column: null, rule: 'import', what: 'os', message: 'not allowed' } as const;
const failed = { package: 'apple', status: 'failed', version: null, why: 'no such package' } as const;
const message = 'A sentence.';
const VERDICTS: Verdict[] = [
  { kind: 'ok' },
  { kind: 'python-error', code: 'PYTHON_ERROR', message, exception },
  { kind: 'exited', code: 'NONZERO_EXIT', message, status: 3 },
  { kind: 'timed-out', code: 'EXECUTION_TIMEOUT', message, limitMs: 1 },
  { kind: 'cpu-exceeded', code: 'CPU_LIMIT_EXCEEDED', message, limitMs: 1 },
  { kind: 'memory-exceeded', code: 'MEMORY_LIMIT_EXCEEDED', message, limitMb: 1, exception },
  { kind: 'processes-exceeded', code: 'PROCESS_LIMIT_EXCEEDED', message, limit: 1 },
  { kind: 'disk-exceeded', code: 'DISK_LIMIT_EXCEEDED', message, limitMb: 1 },
  { kind: 'output-exceeded', code: 'OUTPUT_LIMIT_EXCEEDED', message, limitBytes: 1 },
  { kind: 'killed', code: 'KILLED_BY_SIGNAL', message, signal: 'SIGSEGV' },
  { kind: 'cancelled', code: 'CANCELLED', message },
  { kind: 'denied', code: 'DENIED', message, reason: 'scope', violations: [violation] },
  { kind: 'busy', code: 'SERVER_BUSY', message, queued: 1 },
  { kind: 'invalid', code: 'INVALID_INPUT', message, issues: ['code: is missing'] },
  { kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR', message, packages: [failed] },
  { kind: 'no-session', code: 'SESSION_ENDED', message },
  { kind: 'lost', code: 'RUN_LOST', message, started: true },
  { kind: 'unavailable', code: 'INTERPRETER_NOT_FOUND', message },
  { kind: 'unrecorded', code: 'AUDIT_DAMAGED', message },
  { kind: 'internal', code: 'INTERNAL_ERROR', message },
];

describe('the advertised result of a run, as clients check it', () => {
  const fits = new AjvJsonSchemaValidator().getValidator(RUN_RESULT as JsonSchemaType);
  const structured = (outcome: Outcome, detail: 'short' | 'full') => {
    const budget = { chars: 20_000, imageBytes: 0 };
    return replyOutcome(outcome, { style: 'full', detail, budget }).structuredContent;
  };

  test('there is an example of every kind of verdict', () => {
    expect(VERDICTS.map(({ kind }) => kind)).toEqual(VERDICT_KINDS);
  });

  test.each(VERDICTS)('takes both forms of an outcome whose verdict is $kind', (verdict) => {
    const outcome = outcomeOf({ verdict: Verdict.parse(verdict) });
    expect(fits(structured(outcome, 'short'))).toMatchObject({ valid: true });
    expect(fits(structured(outcome, 'full'))).toMatchObject({ valid: true });
    expect(structured(outcome, 'full')).toEqual(outcome);
  });

  test('takes a value, a disclosure and the run whose outcome was kept', () => {
    const value = { type: 'dict', repr: "{'a': [1, None]}", json: { a: [1, null] }, note: 'cut' };
    const disclosure = { server: 'pungi', text: 'What was run.', codeSummary: { imports: [] } };
    const outcome = { ...outcomeOf({ isCached: true }), value, disclosure } as unknown as Outcome;
    expect(fits(structured(outcome, 'full'))).toMatchObject({ valid: true });
    expect(fits(structured(outcome, 'short'))).toMatchObject({ valid: true });
    expect(Object.keys(structured(outcome, 'short') as object)).toEqual([
      'value',
      'notes',
      'cached',
      'disclosure',
    ]);
  });

  test.each([
    ['an error that is a sentence', { error: 'bad' }],
    ['output that is no text', { stdout: 1 }],
  ])('does not take %s', (_, part) => {
    expect(fits(part)).toMatchObject({ valid: false });
  });
});
