import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { toolsSchema } from '../src/standalone/folder.js';

test('docs/tools.schema.json is what Pungi accepts', () => {
  const published = readFileSync(resolve(import.meta.dirname, '../../../docs/tools.schema.json'), 'utf8');
  expect(JSON.parse(published)).toEqual(toolsSchema());
});

test('the schema says which fields a person may change', () => {
  const text = JSON.stringify(toolsSchema());
  for (const words of ['its name for clients; may be changed', 'what the model reads; may be changed'])
    expect(text).toContain(words);
});
