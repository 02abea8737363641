import type { JsonSchemaType } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { outcomeOf } from '../../../tests/support/outcomes.js';
import { type Outcome, Verdict } from '../../core/src/contract/outcome.js';
import { VERDICT_KINDS } from '../../core/src/contract/verdicts.js';
import { advertiseArguments, advertiseResult } from '../src/tools/advertise.js';
import { OUTCOME } from '../src/tools/execute-python.js';

const told = (schema: z.ZodType) => advertiseArguments(schema);
const toldResult = (schema: z.ZodType, open?: string[]) => advertiseResult(schema, open);

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
    additionalProperties: false,
  });
});

describe('results', () => {
  test('keep names, types and choices, even of fields that are called like a keyword', () => {
    const schema = z.object({
      description: z.string().describe('what it is'),
      required: z.array(z.string()),
      size: z.number().int().nullable(),
      tier: z.enum(['a', 'b']).nullable(),
      part: z.object({ name: z.string() }).nullable(),
      data: z.json().optional(),
      either: z.union([z.string(), z.object({ a: z.number() })]),
    });
    expect(toldResult(schema)).toEqual({
      type: 'object',
      properties: {
        description: { type: 'string' },
        required: { type: 'array', items: { type: 'string' } },
        size: { type: ['integer', 'null'] },
        tier: { type: ['string', 'null'], enum: ['a', 'b', null] },
        part: { type: ['object', 'null'], properties: { name: { type: 'string' } } },
        data: {},
        either: { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'number' } } }] },
      },
      required: ['description', 'required', 'size', 'tier', 'part', 'either'],
    });
  });

  test('of several kinds are one object, whose kind is one of them', () => {
    const kind = <Kind extends string>(name: Kind) => z.literal(name);
    const schema = z.object({
      end: z.discriminatedUnion('kind', [
        z.object({ kind: kind('ok') }),
        z.object({ kind: kind('late'), code: z.literal('LATE'), ms: z.number() }),
        z.object({ kind: kind('bad'), code: z.enum(['A', 'B']), why: z.string().optional() }),
      ]),
    });
    expect(toldResult(schema)['properties']).toEqual({
      end: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['ok', 'late', 'bad'] },
          code: { type: 'string' },
        },
        required: ['kind'],
      },
    });
  });

  test('are open where it is wanted: objects, what may be null, lists, and within lists', () => {
    const part = z.object({ name: z.string() });
    const schema = z.object({
      one: part,
      maybe: part.nullable(),
      many: z.array(part),
      list: z.array(z.object({ id: z.string(), part })),
    });
    expect(toldResult(schema, ['one', 'maybe', 'many', 'list.part'])['properties']).toEqual({
      one: { type: 'object' },
      maybe: { type: ['object', 'null'] },
      many: { type: 'array', items: { type: 'object' } },
      list: {
        type: 'array',
        items: { type: 'object', properties: { id: { type: 'string' }, part: { type: 'object' } } },
      },
    });
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
  { kind: 'unavailable', code: 'INTERPRETER_NOT_FOUND', message },
  { kind: 'unrecorded', code: 'AUDIT_DAMAGED', message },
  { kind: 'internal', code: 'INTERNAL_ERROR', message },
];

describe("the outcome's schema, as clients check it", () => {
  const fits = new AjvJsonSchemaValidator().getValidator<Outcome>(OUTCOME as JsonSchemaType);

  test.each(VERDICTS)('takes an outcome whose verdict is $kind', (verdict) => {
    expect(fits(outcomeOf({ verdict: Verdict.parse(verdict) }))).toMatchObject({ valid: true });
  });

  test('takes a value, a disclosure and the run whose outcome was kept', () => {
    const value = { type: 'dict', repr: "{'a': [1, None]}", json: { a: [1, null] }, note: 'cut' };
    const disclosure = { server: 'pungi', text: 'What was run.', codeSummary: { imports: [] } };
    expect(fits({ ...outcomeOf({ isCached: true }), value, disclosure })).toMatchObject({ valid: true });
  });

  test('names every kind of verdict', () => {
    const { verdict } = OUTCOME['properties'] as { verdict: { properties: { kind: { enum: string[] } } } };
    expect(verdict.properties.kind.enum).toEqual(VERDICT_KINDS);
    expect(VERDICTS.map(({ kind }) => kind)).toEqual(verdict.properties.kind.enum);
  });

  test.each([
    ['a verdict of no known kind', { verdict: { kind: 'well' } }],
    ['a verdict without kind', { verdict: {} }],
    ['output that is no text', { stdout: { text: 1, bytes: 1, truncated: false } }],
    ['no usage', { usage: undefined }],
    ['a value that is none', { value: 'x' }],
    ['an exception as a sentence', { verdict: { kind: 'python-error', exception: 'bad' } }],
  ])('does not take %s', (_, part) => {
    expect(fits(JSON.parse(JSON.stringify({ ...outcomeOf(), ...part })))).toMatchObject({ valid: false });
  });
});
