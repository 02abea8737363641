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
    'has a row for %s with its variable and its default',
    (name) => {
      const row = rows.find((line) => line.includes(`\`${OPTIONS[name].env}\``));
      expect(row, `no row of a table names ${OPTIONS[name].env}`).toBeDefined();
      const cells = cellsOf(row ?? '').map((cell) => cell.replaceAll(/(?<=\d)[ ,_](?=\d)/g, ''));
      if (defaultText(name) !== '') expect(cells).toContain(defaultText(name));
    },
  );
});
