import { describe, expect, test } from 'vitest';
import { corrupt } from '../src/fuzz/fuzz.js';
import { allowedBy, exampleInput } from '../src/inputs/example.js';
import { generate, Random } from '../src/inputs/generate.js';
import { shrink } from '../src/inputs/shrink.js';

const object = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});
const SCHEMAS: Record<string, Record<string, unknown>> = {
  nothing: { type: 'object' },
  scalars: object({
    a: { type: 'string' },
    b: { type: 'integer' },
    c: { type: 'boolean' },
    d: { type: 'null' },
  }),
  bounds: object({
    a: { type: 'integer', minimum: 10, maximum: 12 },
    b: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    c: { type: 'string', minLength: 3, maxLength: 5 },
    d: { type: 'integer', multipleOf: 7, minimum: 8 },
  }),
  names: object({ a: { enum: ['x', 2, null] }, b: { const: { c: 1 } } }),
  lists: object({
    a: { type: 'array', items: { type: 'integer' }, minItems: 2 },
    b: { prefixItems: [{ type: 'string' }] },
  }),
  choices: object({
    a: { anyOf: [{ type: 'null' }, { type: 'integer' }] },
    b: { oneOf: [{ type: 'boolean' }] },
  }),
  references: {
    ...object({ a: { $ref: '#/$defs/tree' } }),
    $defs: { tree: object({ b: { $ref: '#/$defs/tree' } }, []) },
  },
  sums: { type: 'object', allOf: [object({ a: { type: 'string' } }), object({ b: { type: 'integer' } })] },
  formats: object({ a: { type: 'string', format: 'date' }, b: { type: 'string', format: 'uuid' } }),
};

describe('inputs from schemas', () => {
  test.each(Object.entries(SCHEMAS))('the example of %s is allowed', (_, schema) => {
    const input = exampleInput(schema);
    expect(input).toBeDefined();
    expect(allowedBy(schema)(input)).toBe(true);
  });

  test.each(Object.entries(SCHEMAS))('most of what is generated for %s is allowed', (_, schema) => {
    const random = new Random(7);
    const allows = allowedBy(schema);
    const inputs = Array.from({ length: 200 }, () => generate(schema, random));
    expect(inputs.filter(allows).length).toBeGreaterThan(100);
  });

  test('examples and defaults of the schema come first, and only what is required is there', () => {
    const schema = object(
      { a: { type: 'string', default: 'tea' }, b: { type: 'string', examples: ['x'] }, c: {} },
      ['a', 'b'],
    );
    expect(exampleInput(schema)).toEqual({ a: 'tea', b: 'x' });
  });

  test('what cannot be fulfilled has no example', () => {
    expect(exampleInput(object({ a: { type: 'string', pattern: '^[0-9]{4}-[A-F]{6}$' } }))).toBeUndefined();
  });

  test('the same seed gives the same, another seed something else', () => {
    const of = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => corrupt(generate(SCHEMAS['scalars'], random) as never, random));
    };
    expect(of(1)).toEqual(of(1));
    expect(of(1)).not.toEqual(of(2));
  });
});

describe('making an input small', () => {
  test('keeps what matters and nothing else', async () => {
    const found = { a: 'some tea and a bun', b: [1, 2, 300, 4], c: { d: true } };
    const smallest = await shrink(
      found,
      async ({ b }) => Array.isArray(b) && b.some((one) => one > 100),
      500,
    );
    expect(smallest).toEqual({ b: [150] });
  });

  test('stops after as many tries as it may', async () => {
    let tries = 0;
    await shrink(
      { a: 'x'.repeat(1000) },
      async () => {
        tries += 1;
        return false;
      },
      3,
    );
    expect(tries).toBe(3);
  });
});
