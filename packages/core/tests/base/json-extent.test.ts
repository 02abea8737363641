import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isShallowJson, isWithin, measureJson } from '../../src/base/json-extent.js';

const NO_BOUND = Number.POSITIVE_INFINITY;

/** The extent, counted in the value and not in its text. */
function extentOf(value: unknown): { depth: number; parts: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, parts: 0 };
  const inner = Object.values(value).map(extentOf);
  const own = 1 + Math.max(0, inner.length - 1) + (Array.isArray(value) ? 0 : inner.length);
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    parts: own + inner.reduce((sum, { parts }) => sum + parts, 0),
  };
}

const text = fc
  .array(fc.constantFrom('a', '"', '\\', '[', '{', ',', ':', 'ż', '\n'), { maxLength: 200 })
  .map((letters) => letters.join(''));
const json = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  ),
})).any;

test('depth and parts are what the value has, whatever its texts hold', () => {
  fc.assert(
    fc.property(json, (value) => {
      const bytes = Buffer.from(JSON.stringify(value));
      const { depth, parts } = extentOf(value);
      expect(isWithin(bytes, { depth, parts })).toBe(true);
      expect(isShallowJson(value, depth)).toBe(true);
      if (depth > 0) expect(isShallowJson(value, depth - 1)).toBe(false);
      if (depth > 0) expect(isWithin(bytes, { depth: depth - 1, parts: NO_BOUND })).toBe(false);
      if (parts > 0) expect(isWithin(bytes, { depth: NO_BOUND, parts: parts - 1 })).toBe(false);
    }),
    { numRuns: 500 },
  );
});

test('a text that does not end has no extent', () => {
  for (const bytes of ['"', `"${'x'.repeat(100)}[[`, `"${'\\"'.repeat(100)}[[`])
    expect(isWithin(Buffer.from(bytes), { depth: 0, parts: 0 })).toBe(true);
});

test('a value is measured however deep it is, and a number too large for JSON is seen', () => {
  let value: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) value = [value];
  expect(isShallowJson(value, 99_999)).toBe(false);
  expect(isShallowJson(value, 100_000)).toBe(true);
  expect(measureJson(JSON.parse('[{"a":-1e999},[]]'), 9)).toEqual({ depth: 2, nodes: 4, hasInfinity: true });
});
