// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { substitute } from '../../src/spec/substitute.js';

const empty = { variables: [], captured: {}, environment: {} };
const last = { isLast: true };

test('a value without references is returned itself', () => {
  const value = { a: [1, { b: 'x' }], c: '$x {y} ${} ${1} $${' };
  expect(substitute(value, empty, last).value).toBe(value);
});

test('a reference that is the whole text keeps the type of what it stands for', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const captured = { ...empty, captured: { x: value } };
      expect(substitute({ a: ['${x}'] }, captured, last).value).toEqual({ a: [value] });
    }),
  );
});

test('what is captured or set outside comes through both substitutions as it is', () => {
  const hard = fc.string({ unit: fc.constantFrom('$', '{', '}', 'x', 'env:', ':-', 'a') });
  fc.assert(
    fc.property(hard, (text) => {
      const scope = { ...empty, captured: { it: text }, variables: [{ x: 'no' }], environment: { x: 'no' } };
      for (const form of ['${it}', '<${it}>']) {
        const first = substitute(form, scope, { isLast: false });
        expect(substitute(first.value, scope, last).value).toBe(form.replace('${it}', () => text));
      }
    }),
  );
});

test('names that are known later stay, whatever their default', () => {
  const later = { isLast: false, later: new Set(['id']) };
  expect(substitute('${id:-1} ${id.x} ${other:-2}', empty, later)).toEqual({
    value: '${id:-1} ${id.x} 2',
    missing: [],
  });
});

test('what no name leads to stays, and is told', () => {
  const { value, missing } = substitute(
    ['${a}', 'b ${env:B} ${c.d}'],
    { ...empty, variables: [{ c: {} }] },
    last,
  );
  expect(value).toEqual(['${a}', 'b ${env:B} ${c.d}']);
  expect(missing.map(({ text }) => text)).toEqual(['${a}', '${env:B}', '${c.d}']);
});

test('the nearest variable counts, parts are reached by points, and circles end', () => {
  const scope = { ...empty, variables: [{ a: 1 }, { a: 2, b: { c: [{ d: 'deep' }] }, loop: 'x${loop}' }] };
  expect(substitute('${a} ${b.c.0.d}', scope, last).value).toBe('1 deep');
  expect(substitute('${loop}', scope, last).missing).toHaveLength(1);
});
