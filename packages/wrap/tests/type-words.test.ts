import { expect, test } from 'vitest';
import { typeWords } from '../src/schema/type-words.js';

const DEFINITIONS = {
  Colour: { enum: ['red', 'green'], type: 'string' },
  Order: { type: 'object', properties: {} },
  Size: { type: 'integer' },
};

test.each([
  [{ type: 'string' }, 'text'],
  [{ type: 'integer' }, 'whole number'],
  [{ type: 'string', format: 'date-time' }, 'date and time'],
  [{ type: 'string', format: 'path' }, 'path'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'text or nothing'],
  [{ type: ['integer', 'null'] }, 'whole number or nothing'],
  [{ type: 'array', items: { type: 'number' } }, 'list of number'],
  [
    { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
    'list of (number or nothing)',
  ],
  [{ type: 'array', items: { type: 'string' }, uniqueItems: true }, 'set of text'],
  [{ type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }] }, '[text, whole number]'],
  [{ type: 'object', additionalProperties: { type: 'boolean' } }, 'object of (true or false)'],
  [{ type: 'object', additionalProperties: false }, 'object'],
  [{ enum: ['a', 'b'] }, '"a" or "b"'],
  [{ enum: [1, 2, 3, 4, 5, 6, 7, 8] }, '1 or 2 or 3 or 4 or 5 or 6 or 2 more'],
  [{ const: 7 }, '7'],
  [{ $ref: '#/$defs/Colour' }, '"red" or "green"'],
  [{ $ref: '#/$defs/Order' }, 'Order'],
  [{ $ref: '#/$defs/Size' }, 'whole number'],
  [{ $ref: '#/$defs/Nobody' }, 'Nobody'],
  [{}, 'anything'],
  [true, 'anything'],
])('%j is %s', (schema, words) => {
  expect(typeWords(schema, DEFINITIONS)).toBe(words);
});

test('a schema that refers to itself ends', () => {
  const loop = { type: 'array', items: { $ref: '#/$defs/Loop' } };
  expect(typeWords(loop, { Loop: loop })).toMatch(/^list of list of .*…$/);
});

test('schemas that refer to each other a hundred times each end soon', () => {
  const levels = ['A', 'B', 'C', 'D'];
  const definitions = Object.fromEntries(
    levels.map((name, level) => [
      name,
      {
        type: 'array',
        prefixItems: Array.from({ length: 100 }, () => ({ $ref: `#/$defs/${levels[level + 1] ?? 'Size'}` })),
      },
    ]),
  );
  const words = typeWords({ type: 'array', prefixItems: [{ $ref: '#/$defs/A' }] }, definitions);
  expect(words.length).toBeLessThan(20_000);
});
