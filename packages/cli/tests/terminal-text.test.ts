import { describe, expect, test } from 'vitest';
import {
  agoText,
  cutTo,
  durationText,
  indent,
  oneLine,
  printable,
  sizeText,
  widthOf,
} from '../../core/src/base/terminal.js';
import { tableOf } from '../src/terminal.js';

const style = (_: string, text: string) => text;

test.each([
  ['plain', 5],
  ['日本', 4],
  ['e\u0301', 1],
  ['🙂', 2],
  ['', 0],
])('%j takes %i columns', (text, columns) => expect(widthOf(text)).toBe(columns));

test.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['a b', 2, 'a…'],
])('%j cut to %i columns is %j', (text, columns, cut) => expect(cutTo(text, columns)).toBe(cut));

describe('what others wrote', () => {
  test.each([
    ['\x1b[2Jgone', 'gone'],
    ['a\x07b\rc', 'a�b�c'],
    ['line\r\nline\tend', 'line\nline\tend'],
    ['abc\u202Etxt.exe', 'abc�txt.exe'],
    ['\x1b]0;title\x07x', 'x'],
  ])('%j is shown as %j', (text, shown) => expect(printable(text)).toBe(shown));
  test('is one line where one is wanted', () => expect(oneLine(' a\n\n b\tc ')).toBe('a b c'));
  test('is indented line by line', () => expect(indent('a\nb\n', '  ')).toBe('  a\n  b'));
});

test('amounts are as people write them', () => {
  expect([0, 0.1, 9.94, 143.2, 2048].map(sizeText)).toEqual(['0 MB', '0.1 MB', '9.9 MB', '143 MB', '2.0 GB']);
  expect([3.2, 1234, 119_600].map(durationText)).toEqual(['3 ms', '1.2 s', '2 min 0 s']);
  const now = Date.parse('2026-11-10T12:00:00Z');
  const ago = (iso: string | null) => agoText(iso, now);
  expect(ago(null)).toBe('never');
  expect(ago('2026-11-10T11:59:30Z')).toBe('just now');
  expect(ago('2026-11-10T11:18:00Z')).toBe('42 minutes ago');
  expect(ago('2026-11-10T09:00:00Z')).toBe('3 hours ago');
  expect(ago('2026-11-09T11:00:00Z')).toBe('yesterday');
  expect(ago('2026-11-11T11:00:00Z')).toBe('just now');
});

test('a table aligns its columns and cuts the last', () => {
  const columns = [{ heading: 'A' }, { heading: 'N', align: 'right' as const }, { heading: 'TEXT' }];
  const rows = [
    ['日本', '7', 'one'],
    ['b', '1234', 'a long one'],
  ];
  expect(tableOf(columns, rows, { style, width: 18 })).toBe(
    ['A        N  TEXT', '日本     7  one', 'b     1234  a lon…', ''].join('\n'),
  );
});
