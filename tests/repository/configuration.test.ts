import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Config, OPTIONS, type OptionName } from '../../packages/core/src/config/schema.js';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/configuration.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('|'));
const DEFAULTS = Config.parse({});

/** What the table shows as the default: digits without separators, lists joined, nothing for none. */
function defaultText(name: OptionName): string {
  const value = DEFAULTS[name];
  return Array.isArray(value) ? value.join(' ') : String(value ?? '');
}

const cellsOf = (row: string) =>
  row
    .split('|')
    .map((cell) => cell.replaceAll('`', '').trim())
    .slice(1, -1);

describe('the configuration table of the documentation', () => {
  test.each(Object.keys(OPTIONS) as OptionName[])(
    'has one row for %s with its variable and its default',
    (name) => {
      const own = rows.filter((line) => line.startsWith(`| \`${OPTIONS[name].env}\` `));
      expect(own, `rows of ${OPTIONS[name].env}`).toHaveLength(1);
      const cells = cellsOf(own[0] ?? '').map((cell) => cell.replaceAll(/(?<=\d)[ ,_](?=\d)/g, ''));
      if (defaultText(name) !== '') expect(cells).toContain(defaultText(name));
    },
  );
});
