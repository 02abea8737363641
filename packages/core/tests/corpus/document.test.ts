import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DIFFERENCES, type Difference, SESSION_DIFFERENCES } from './differences.js';
import { readSnippets } from './snippets.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../../../docs/compatibility.md'), 'utf8');

const rowOf = ({ reason, tiers, python, snippets }: Difference): string[] => {
  const versions = python === undefined ? '' : `, Python ${python.map((minor) => `3.${minor}`).join(', ')}`;
  return [
    reason,
    `${tiers?.join(', ') ?? 'all'}${versions}`,
    snippets.map((name) => `\`${name}\``).join(', '),
  ];
};

test.each([
  ['differences', DIFFERENCES],
  ['differences in sessions', SESSION_DIFFERENCES],
])('docs/compatibility.md lists the %s of the corpus, each with its reason', (mark, differences) => {
  const [, table = ''] = new RegExp(`<!-- ${mark} -->\\n(.*?)<!-- /${mark} -->`, 's').exec(PAGE) ?? [];
  const lines = table.split('\n').filter((line) => line.startsWith('| '));
  const rows = lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
  expect(rows.slice(2)).toEqual(differences.map(rowOf));
});

test('every difference is one of an existing snippet, which has one entry', () => {
  const names = new Set(readSnippets().map(({ name }) => name));
  const listed = [...DIFFERENCES, ...SESSION_DIFFERENCES].flatMap(({ snippets }) => snippets);
  expect(listed.filter((name) => !names.has(name))).toEqual([]);
});

test('the corpus has at least 300 snippets, in folders by category', () => {
  const snippets = readSnippets();
  expect(snippets.length).toBeGreaterThanOrEqual(300);
  expect(snippets.filter(({ name }) => !/^\w+\/\w+$/.test(name))).toEqual([]);
});
