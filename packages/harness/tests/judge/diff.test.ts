import fc from 'fast-check';
import { expect, test } from 'vitest';
import { diff, jsonEqual } from '../../src/judge/diff.js';
import { bounded, shown } from '../../src/judge/shown.js';

test('maps and lists are told key by key, and what is the same is counted', () => {
  const expected = { name: 'a', size: { w: 1, h: 2 }, tags: ['x', 'y', 'z'], gone: true };
  const actual = { name: 'a', size: { w: 1, h: 3 }, tags: ['x', 'z', 'q'], more: [1] };
  expect(diff(expected, actual)).toBe(
    [
      '  {',
      '    … 1 the same',
      '    "size": {',
      '      … 1 the same',
      '-     "h": 2',
      '+     "h": 3',
      '    }',
      '    "tags": [',
      '      … 1 the same',
      '-     "y"',
      '      … 1 the same',
      '+     "q"',
      '    ]',
      '-   "gone": true',
      '+   "more": [',
      '+     1',
      '+   ]',
      '  }',
    ].join('\n'),
  );
});

test('texts of several lines are told line by line', () => {
  expect(diff('one\ntwo\nthree', 'one\n2\nthree')).toBe(
    ['  """', '    … 1 the same', '-   two', '+   2', '    … 1 the same', '  """'].join('\n'),
  );
});

test('long texts are shown where they differ', () => {
  const found = diff(`${'x'.repeat(500)}A`, `${'x'.repeat(500)}B`);
  expect(found).toBe(`- "…${'x'.repeat(40)}A"\n+ "…${'x'.repeat(40)}B"`);
});

test('an item that moved is not a change of all items after it', () => {
  const items = Array.from({ length: 50 }, (_, index) => ({ id: index }));
  const lines = diff(items, items.slice(1)).split('\n');
  expect(lines).toEqual(['  [', '-   {', '-     "id": 0', '-   }', '    … 49 the same', '  ]']);
});

test('as much as can stays the same', () => {
  expect(diff(['a', 'b', 'c', 'd', 'e'], ['x', 'a', 'b', 'd', 'y']).split('\n')).toEqual([
    '  [',
    '+   "x"',
    '    … 2 the same',
    '-   "c"',
    '    … 1 the same',
    '-   "e"',
    '+   "y"',
    '  ]',
  ]);
});

test('a difference of a million items is still readable', () => {
  const many = (step: number) => Array.from({ length: 100_000 }, (_, index) => index * step);
  const lines = diff(many(1), many(2)).split('\n');
  expect(lines.length).toBeLessThanOrEqual(81);
  expect(lines.at(-1)).toBe('  … and more');
});

test('there is a diff exactly where values differ, and it never throws', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      expect(diff(one, one)).toBe('');
      expect(diff(one, other) === '').toBe(jsonEqual(one, other));
    }),
  );
});

test('a value that is nearly the same differs in few lines', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (map) => {
      const lines = diff({ ...map, added: 1 }, { ...map, added: 2 }).split('\n');
      expect(lines.filter((line) => /^[-+]/.test(line))).toEqual(['-   "added": 1', '+   "added": 2']);
    }),
  );
});

test('whatever a value is, it is shown as JSON, and in bounds', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (value) => {
      expect(shown(value).length).toBeLessThanOrEqual(121);
      expect(JSON.stringify(bounded(value))).toBeDefined();
    }),
  );
  expect(shown('😀'.repeat(100))).not.toMatch(/[\uD800-\uDBFF]…/);
});
