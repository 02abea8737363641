import { describe, expect, test } from 'vitest';
import { bounded, boundedLine, valueText } from '../../src/report/bounded-text.js';
import { findingOf } from '../../src/report/evidence.js';
import { deepValue } from './hostile.js';

const BOUNDS = { chars: 1000, lines: 50 };

describe('a long text', () => {
  test('keeps its beginning and its end, and says how much is missing', () => {
    const text = `begin ${'x'.repeat(5000)} end`;
    const shown = bounded(text, { chars: 100, lines: 10 });
    expect(shown).toMatch(/^begin x+\n… 4,910 characters left out …\nx+ end$/);
    expect(boundedLine(text, 100)).toMatch(/^begin x+ … 4,910 characters left out … x+ end$/);
  });

  test('of many lines loses those in the middle', () => {
    const text = Array.from({ length: 100 }, (_, at) => `line ${at}`).join('\n');
    const lines = bounded(text, { chars: 10_000, lines: 5 }).split('\n');
    expect(lines).toEqual(['line 0', 'line 1', 'line 2', '… 95 lines left out …', 'line 98', 'line 99']);
  });

  test('is not cut inside of a character', () => {
    for (const chars of [10, 11, 12, 13]) {
      expect(bounded('🙂'.repeat(100), { chars, lines: 5 }).isWellFormed()).toBe(true);
    }
  });

  test('that fits is as it was', () => {
    expect(bounded('one\ntwo\n', { chars: 8, lines: 3 })).toBe('one\ntwo\n');
  });
});

describe('a value', () => {
  test('is in one line where it fits, and else one line a member', () => {
    expect(valueText({ a: [1, 'two', null], b: {} }, BOUNDS)).toBe('{"a": [1, "two", null], "b": {}}');
    const long = { first: 'x'.repeat(50), second: { list: ['y'.repeat(50), true] } };
    expect(valueText(long, BOUNDS).split('\n')).toEqual([
      '{',
      `  "first": "${'x'.repeat(50)}",`,
      `  "second": {"list": ["${'y'.repeat(50)}", true]}`,
      '}',
    ]);
  });

  test('stays JSON, and shows what would not be seen', () => {
    const value = { text: 'a\u202Eb\u200Bc\u0085d\u0000e\u2028f\u{E0041}g👩‍👩‍👧"\\' };
    const text = valueText(value, BOUNDS);
    expect(JSON.parse(text)).toEqual(value);
    expect(text).toContain('a\\u202eb\\u200bc\\u0085d\\u0000e\\u2028f\\udb40\\udc41g👩‍👩‍👧');
  });

  test('that is nested without end is shown as far as it is of use', () => {
    expect(valueText(deepValue(), { chars: 9999, lines: 99 })).toMatch(
      /^\[[\s[]+ … nested deeper … [\s\]]+\]$/,
    );
  });
});

describe('what a failure shows', () => {
  const failure = { kind: 'expectation' as const, message: '$.sum is 4, not 5.' };

  test('does not repeat values that its sentence tells', () => {
    expect(findingOf({ ...failure, expected: 5, actual: 4 }, BOUNDS).evidence).toEqual([]);
    expect(findingOf({ ...failure, expected: 5, actual: [4, 4] }, BOUNDS).evidence).toEqual([
      { label: 'expected', form: 'json', text: '5' },
      { label: 'received', form: 'json', text: '[4, 4]' },
    ]);
  });

  test('null is a value, and absence is none', () => {
    const { evidence } = findingOf({ ...failure, actual: null }, BOUNDS);
    expect(evidence).toEqual([{ label: 'received', form: 'json', text: 'null' }]);
  });

  test('a difference stands for both, with escapes that can be told apart', () => {
    const { evidence } = findingOf({ ...failure, diff: '- red\n+ \u001b[31mred', expected: 1 }, BOUNDS);
    expect(evidence).toEqual([{ label: 'difference', form: 'diff', text: '- red\n+ ␛[31mred' }]);
  });

  test('names the script and its line', () => {
    expect(findingOf({ ...failure, script: 'check', line: 7 }, BOUNDS).source).toBe('check, line 7');
  });
});
