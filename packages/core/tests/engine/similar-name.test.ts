import { expect, test } from 'vitest';
import { similarName } from '../../src/base/issue-text.js';

test.each([
  ['dieg', 'diego'],
  ['Deigo', 'diego'],
  ['strategc', 'strategic'],
  ['🐍data', 'data'],
  ['adta', 'data'],
  ['dta', 'data'],
  ['maria', undefined],
  ['date', 'data'],
  ['gate', undefined],
  ['dog', undefined],
  ['di', undefined],
  ['d', undefined],
])('%j is taken for %j', (name, meant) => {
  expect(similarName(name, ['diego', 'strategic', 'data'])).toBe(meant);
});

test('a name of megabytes is like none, and is not held against any letter by letter', () => {
  const known = Array.from({ length: 50 }, (_, index) => `profile-${index}`);
  expect(similarName('x'.repeat(8_000_000), known)).toBeUndefined();
});
