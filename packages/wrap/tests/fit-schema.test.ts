import { describe, expect, test } from 'vitest';
import { fitSchema } from '../src/schema/fit-schema.js';

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const lax = (schema: object, value: unknown) => fitSchema(schema as never, value, { isLax: true });
const strict = (schema: object, value: unknown) => fitSchema(schema as never, value);

describe('what fits', () => {
  test.each([
    [{ type: 'integer' }, '10', 10],
    [{ type: 'integer' }, ' -3 ', -3],
    [{ type: 'number' }, '1.5e3', 1500],
    [{ type: 'boolean' }, 'True', true],
    [{ type: 'array', items: { type: 'integer' } }, '["1", 2]', [1, 2]],
    [{ type: 'object' }, '{"a": 1}', { a: 1 }],
    [{ type: ['integer', 'string'] }, '10', '10'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, '10', '10'],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '10', 10],
    [{ enum: [1, 2] }, '2', 2],
    [{ const: 'a' }, 'a', 'a'],
    [{ $ref: '#/$defs/N', $defs: { N: { type: 'integer' } } }, 3, 3],
    [{ allOf: [{ type: 'integer' }, { minimum: 2 }] }, '2', 2],
    [{ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } }, ['a', 1], ['a', 1]],
  ])('%j takes %j', (schema, value, wanted) => {
    expect(
      lax(object({ a: schema }, '$defs' in schema ? { $defs: schema.$defs } : {}), { a: value }),
    ).toEqual({
      value: { a: wanted },
      issues: [],
    });
  });
});

describe('what does not', () => {
  test.each([
    [{ type: 'integer' }, 1.5, 'a: expected a whole number, got 1.5'],
    [{ type: 'integer' }, '1.5', 'a: expected a whole number, got the text "1.5"'],
    [{ type: 'integer' }, '', 'a: expected a whole number, got the text ""'],
    [{ type: 'integer' }, true, 'a: expected a whole number, got true'],
    [{ type: 'string' }, 5, 'a: expected a text, got 5'],
    [{ type: 'array' }, '{"a": 1}', 'a: expected a list, got the text "{\\"a\\": 1}"'],
    [
      { type: 'array', items: { type: 'integer' } },
      [1, 'x'],
      'a.1: expected a whole number, got the text "x"',
    ],
    [{ enum: ['x', 'y'] }, 'z', 'a: expected "x" or "y", got the text "z"'],
    [{ type: 'number', minimum: 2 }, 1, 'a: expected at least 2, got 1'],
    [{ type: 'number', exclusiveMaximum: 2 }, 2, 'a: expected less than 2, got 2'],
    [{ type: 'array', minItems: 2 }, [1], 'a: expected at least 2 items, got 1'],
    [{ type: 'string', maxLength: 1 }, 'ab', 'a: expected at most 1 characters, got 2'],
    [
      { anyOf: [{ type: 'integer' }, { type: 'boolean' }] },
      'x',
      'a: expected a whole number or true or false, got the text "x"',
    ],
    [{ type: 'null' }, {}, 'a: expected nothing, got an empty object'],
    [false, 1, 'a: must not be given'],
  ])('%j refuses %j', (schema, value, issue) => {
    expect(lax(object({ a: schema }), { a: value }).issues).toEqual([issue]);
  });

  test('every missing and every unknown name', () => {
    const schema = object(
      { count: { type: 'integer' } },
      { required: ['count'], additionalProperties: false },
    );
    expect(lax(schema, { cuont: 1, other: 2 }).issues).toEqual([
      'count: is missing; it must be a whole number',
      'cuont: is not known; do you mean "count"?',
      'other: is not known; there are count',
    ]);
    expect(lax(schema, JSON.parse('{"__proto__": 1, "count": 1}')).issues).toEqual([
      '__proto__: is not known; there are count',
    ]);
  });

  test('nothing is converted where that is not wanted', () => {
    expect(strict(object({ a: { type: 'integer' } }), { a: '1' }).issues).toHaveLength(1);
  });
});

describe('schemas that are made to be looked at forever', () => {
  test('a schema that refers to itself', () => {
    expect(strict({ $ref: '#' }, {}).issues).toEqual([]);
    expect(strict({ allOf: [{ $ref: '#' }, { $ref: '#' }] }, {}).issues).toEqual([]);
  });

  test('choices that double with every level', () => {
    const $defs = {
      A: {
        anyOf: [
          object({ a: { $ref: '#/$defs/A' }, b: false }),
          object({ a: { $ref: '#/$defs/A' }, c: false }),
        ],
      },
    };
    let value: object = { b: 1, c: 1 };
    for (let level = 0; level < 60; level += 1) value = { a: value };
    expect(strict(object({ x: { $ref: '#/$defs/A' } }, { $defs }), { x: value })).toBeDefined();
  });

  test('a pattern that takes forever is not tried', () => {
    const schema = object({ a: { type: 'string', pattern: '^(a+)+$' } });
    expect(strict(schema, { a: `${'a'.repeat(50)}!` }).issues).toEqual([]);
  });
});
