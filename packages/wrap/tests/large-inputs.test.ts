import { describe, expect, test } from 'vitest';
import type { PungiError } from '../../core/src/base/errors.js';
import { MAX_CALL_JSON, readCallReport } from '../../core/src/runtime/reports.js';
import { fitSchema } from '../src/schema/fit-schema.js';
import { freeName } from '../src/tools-file/choose-tools.js';
import { readToolsFile } from '../src/tools-file/read-tools-file.js';
import { schemaFaults } from '../src/tools-folder/schema-faults.js';
import { offerOf, type ScriptInUse, type WrappedTool } from '../src/tools-folder/wrapped-script.js';
import { emptyToolsFile, functionTool } from './tools.js';

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const named = <T>(count: number, make: (index: number) => T) =>
  Object.fromEntries(many(count, (index) => [`name_${index}`, make(index)]));
const object = (properties: object, more: object = {}) => ({ type: 'object' as const, properties, ...more });
const lax = (schema: object, value: unknown) => fitSchema(schema as never, value, { isLax: true });

/** Each of these takes minutes, or all of the memory, where it is not bounded. */
describe('values that are made to be looked at forever', () => {
  test('a text that is nearly a number', () => {
    const schema = object({ a: { type: 'number' } });
    expect(lax(schema, { a: `${'1'.repeat(1_000_000)}x` }).issues).toHaveLength(1);
    expect(lax(schema, { a: '12.' })).toEqual({ value: { a: 12 }, issues: [] });
    expect(lax(schema, { a: '.5' }).value).toEqual({ a: 0.5 });
    expect(lax(schema, { a: '1.5.5' }).issues).toHaveLength(1);
  });

  test('a million names that are not known, beside thousands that are', () => {
    const schema = object(
      named(3000, () => true),
      { additionalProperties: false },
    );
    const values = Object.fromEntries(many(300_000, (index) => [`nane_${index}`, 1]));
    expect(lax(schema, values).issues).toHaveLength(20);
  });

  test('a long text that is looked at thousands of times', () => {
    const text = 'x'.repeat(2_000_000);
    const parts = many(5000, () => ({ type: 'string' }));
    expect(lax(object({ a: { allOf: parts } }), { a: text }).issues).toEqual([]);
    const bounded = many(5000, () => ({ minLength: 1_500_000 }));
    expect(lax(object({ a: { allOf: bounded } }), { a: text }).issues).toEqual([]);
    const lists = many(5000, () => ({ type: 'array' }));
    expect(lax(object({ a: { anyOf: lists } }), { a: `[${'1,'.repeat(500_000)}` }).issues).toHaveLength(0);
  });

  test.each([
    ['🐍🐍🐍', { maxLength: 3 }, 0],
    ['🐍🐍🐍', { maxLength: 2 }, 1],
    ['🐍🐍🐍', { minLength: 3 }, 0],
    ['🐍🐍🐍', { minLength: 4 }, 1],
    ['abc', { minLength: 3, maxLength: 3 }, 0],
    ['abc', { minLength: 4 }, 1],
  ])('characters are counted as people do: %s, %j', (text, bounds, count) => {
    expect(lax(object({ a: { type: 'string', ...bounds } }), { a: text }).issues).toHaveLength(count);
  });

  test('a large value among thousands of large choices', () => {
    const choice = (index: number) => ({ index, all: many(20, (number) => number) });
    const schema = { enum: many(5000, choice) };
    const values = many(20_000, () => choice(4999));
    expect(lax(object({ a: { type: 'array', items: schema } }), { a: values }).issues).toEqual([]);
    expect(lax(object({ a: schema }), { a: choice(5000) }).issues).toHaveLength(1);
    expect(lax(object({ a: { enum: [{ b: [1] }, 'x'] } }), { a: { b: [1] } }).issues).toEqual([]);
  });

  test('choices that nobody will read the reasons against', () => {
    const options = many(20, (number) => ({ enum: many(10_000, (index) => `${number} ${index}`) }));
    const schema = object({ a: { type: 'array', items: { anyOf: [...options, { type: 'integer' }] } } });
    expect(lax(schema, { a: many(50_000, (index) => index) }).issues).toEqual([]);
  });
});

describe('schemas that are made to be compiled forever', () => {
  const repeated = (references: number, fields: number) =>
    object(
      named(references, () => ({ $ref: '#/$defs/Large' })),
      { $defs: { Large: object(named(fields, () => ({ type: 'string' }))) } },
    );

  test('references to what is large cost the tool, or its promise', async () => {
    const bomb = repeated(1500, 1500);
    const faults = await schemaFaults([
      functionTool('input', { inputSchema: bomb }),
      functionTool('output', { outputSchema: bomb }),
      functionTool('small', { inputSchema: repeated(10, 10), outputSchema: repeated(3, 3) }),
    ]);
    expect(faults).toEqual([
      { tool: 'input', problem: expect.stringMatching(/^its inputSchema is too much/), isLeftOut: true },
      { tool: 'output', problem: expect.stringMatching(/^its outputSchema is too much/), isLeftOut: false },
    ]);
  });

  test.each([
    [
      'references that are escaped',
      { ...repeated(100, 100), properties: named(100, () => ({ $ref: '#/%24defs/Large' })) },
    ],
    ['thousands of alternatives', object({ a: { anyOf: many(5000, () => true) } })],
    ['thousands of kinds', object({ a: { type: many(30_000, () => 'string') } })],
    ['a schema that is thousands deep', object({ a: nested(3000) })],
  ])('%s', async (_, schema) => {
    const faults = await schemaFaults([functionTool('f', { inputSchema: schema })]);
    expect(faults).toMatchObject([{ tool: 'f', isLeftOut: true }]);
  });

  test('many tools that are each just small enough', async () => {
    const large = (index: number) =>
      object({ ...named(900, () => true), own: { description: String(index) } });
    const faults = await schemaFaults(
      many(60, (index) => functionTool(`f${index}`, { inputSchema: large(index) })),
    );
    expect(faults.at(-1)).toMatchObject({ tool: 'f59', isLeftOut: true });
    expect(faults.length).toBeLessThan(60);
    // The same schema is compiled once.
    expect(
      await schemaFaults(many(60, (index) => functionTool(`f${index}`, { inputSchema: large(0) }))),
    ).toEqual([]);
  });
});

describe('names', () => {
  test('100,000 of the same', () => {
    const taken = new Set<string>();
    const long = 'n'.repeat(126);
    for (let count = 0; count < 100_000; count += 1) {
      taken.add(freeName('same', '', taken));
      // These are the same once there is a number at their end.
      taken.add(freeName(long + String.fromCharCode(97 + (count % 26)), '', taken));
    }
    expect(taken.size).toBe(200_000);
    expect(taken).toContain('same_100000');
    expect([...taken].filter((name) => name.length > 128)).toEqual([]);
  });

  test('a name that was free and is not used is free the next time', () => {
    const taken = new Set(['a', 'a_2']);
    expect(freeName('a', '', taken)).toBe('a_3');
    expect(freeName('a', '', taken)).toBe('a_3');
    expect(freeName('b', '', taken)).toBe('b');
    expect(freeName('a', '_x', taken)).toBe('a_x');
  });
});

describe('too much of everything', () => {
  const script = (faults: ScriptInUse['faults'] = []) => ({ faults }) as ScriptInUse;
  const tool = (name: string, description = ''): WrappedTool => ({
    name,
    spec: functionTool(name, { description }),
    group: 'x',
    script: script(),
    preload: [],
  });

  test('a tool that is too large for the list leaves those after it in it', () => {
    const { tools, problem } = offerOf([tool('a'), tool('large', 'x'.repeat(5 * 1024 * 1024)), tool('b')]);
    expect([...tools.keys()]).toEqual(['a', 'b']);
    expect(problem).toMatch(/1 are not offered/);
  });

  const faultsOf = (text: string): unknown => {
    try {
      readToolsFile(text, 'x');
      return null;
    } catch (error) {
      return (error as PungiError).details['issues'];
    }
  };

  test('a tools file with thousands of faults, and one that is too large, too long or too deep', () => {
    expect(faultsOf(emptyToolsFile({}))).toBeNull();
    const issues = faultsOf(emptyToolsFile({ tools: many(1000, () => 1) })) as string[];
    expect(issues).toHaveLength(21);
    expect(issues[20]).toBe('and 980 more');
    expect(faultsOf(emptyToolsFile({ remarks: many(90_000, () => 1) }))).toEqual([
      'remarks: must have at most 5000 entries',
    ]);
    expect(faultsOf(emptyToolsFile({ description: 'x'.repeat(1024 * 1024) }))).toEqual([
      'it is larger than 1048576 bytes',
    ]);
    expect(faultsOf(emptyToolsFile({ tools: many(150_000, () => []) }))).toEqual([
      expect.stringMatching(/parts/),
    ]);
    expect(faultsOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toEqual([
      expect.stringMatching(/100 deep/),
    ]);
  });

  test.each([
    ['lists', '[]', 130_000],
    ['pairs', '"a":1', 70_000],
    ['lists in lists', `${'['.repeat(50)}${']'.repeat(50)}`, 3000],
  ])('a report of nothing but %s is not read', (_, each, count) => {
    const [open, close] = each.includes(':') ? '{}' : '[]';
    const report = (times: number) =>
      readCallReport(Buffer.from(open + many(times, () => each).join(',') + close)).report;
    expect(report(count)).toBeUndefined();
    expect(report(10)).toBeDefined();
  });

  test('marks in texts are no parts', () => {
    const text = JSON.stringify({ value: `${',:[{"\\'.repeat(100_000)}` });
    expect(readCallReport(Buffer.from(text)).report).toEqual(JSON.parse(text));
    expect(readCallReport(Buffer.from(`"${'x'.repeat(MAX_CALL_JSON)}"`)).report).toBeUndefined();
  });
});

function nested(depth: number): object {
  let schema: object = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { type: 'array', items: schema };
  return schema;
}
