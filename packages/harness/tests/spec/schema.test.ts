// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { publishedSchema } from '../../src/spec/schema.js';

const file = join(import.meta.dirname, '../../../../docs/spec.schema.json');
const valid = new Ajv({ strict: false }).compile(publishedSchema());

test('the published schema is that of the format', () => {
  const published = JSON.parse(readFileSync(file, 'utf8')) as unknown;
  expect(published, 'node scripts/write-spec-schema.mjs writes it anew').toEqual(publishedSchema());
});

const SPEC = `
name: s
server: {command: node, startup_timeout_seconds: "\${env:START:-30}"}
setup: [{tool: a, capture: {id: $.id}}]
tools:
  - name: add
    tests:
      - name: t
        matrix: {n: [1, 2]}
        expected: {error: "\${n}", fields: [{path: $.a, min: "\${n}", type: number}], progress: {min: 1}}
        validation_scripts: [check, {name: own, source: "1"}]
validation_scripts: [{name: check, file: check.py}]
`;

test('it allows what a specification may hold, and references where a value is expected', () => {
  expect(valid(parse(SPEC)), JSON.stringify(valid.errors)).toBe(true);
});

test.each([
  ['an unknown key', 'toolz: []'],
  ['a text for a number', 'test_config: {timeout_seconds: soon}'],
  ['an unknown choice', 'server: {command: a, transport: pigeon}'],
  ['a key in a test', 'prompts: [{name: p, tests: [{name: t, expected: {feilds: []}}]}]'],
])('it refuses %s', (_, text) => {
  expect(valid(parse(`name: a\n${text}`))).toBe(false);
});

test('every place that needs an explanation has one, for editors to show', () => {
  expect(JSON.stringify(publishedSchema()).match(/"description":/g)!.length).toBeGreaterThan(40);
});
