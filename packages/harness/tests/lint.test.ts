import { expect, test } from 'vitest';
import type { Offer } from '../src/init/offer.js';
import { lint } from '../src/lint/lint.js';

const WELL = {
  name: 'add_numbers',
  description: 'Adds two numbers and gives their sum.',
  inputSchema: { type: 'object', properties: { a: { type: 'number', description: 'the first' } } },
  annotations: { readOnlyHint: true },
};
const offering = (parts: Partial<Offer>): Offer => ({
  server: { name: 'shop', version: '1.0.0', protocol: '2026-07-28' },
  instructions: undefined,
  capabilities: {},
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  problems: [],
  ...parts,
});
const about = (parts: Partial<Offer>) =>
  lint(offering(parts)).map(({ severity, rule }) => `${severity} ${rule}`);
const aboutTool = (changes: object) => about({ tools: [{ ...WELL, ...changes }] });
const withParameter = (schema: object) =>
  aboutTool({ inputSchema: { type: 'object', properties: { a: { description: 'the first', ...schema } } } });

test('there is nothing to say about a tool that says everything', () => expect(aboutTool({})).toEqual([]));

test.each([
  ['no description', { description: undefined }, ['warning description']],
  ['a short description', { description: 'adds' }, ['warning description-length']],
  ['an endless description', { description: 'a '.repeat(3000) }, ['advice description-length']],
  ['hidden text', { description: 'Adds two numbers.\u{E0041}\u{E0042}' }, ['error hidden-text']],
  ['control characters', { description: 'Adds two numbers.\u001b[31m' }, ['error hidden-text']],
  ['a bad name', { name: 'add numbers!' }, ['error name']],
  ['a name that is not common', { name: 'math.add' }, ['warning name']],
  ['no schema', { inputSchema: undefined }, ['error input-schema']],
  ['a schema of no object', { inputSchema: { type: 'string' } }, ['error input-schema']],
  ['what is no schema', { inputSchema: { type: 'objekt' } }, ['error input-schema']],
  [
    'a required stranger',
    { inputSchema: { type: 'object', properties: {}, required: ['b'] } },
    ['error required'],
  ],
  ['a bad output schema', { outputSchema: { type: 'objekt' } }, ['error output-schema']],
  ['no annotations', { annotations: undefined }, ['advice annotations']],
  [
    'hints that disagree',
    { annotations: { readOnlyHint: true, destructiveHint: true } },
    ['error annotations'],
  ],
  ['a name against its hint', { name: 'deleteFile' }, ['warning annotations']],
  ['a hint of another type', { annotations: { readOnlyHint: 'yes' } }, ['error annotations']],
])('%s', (_, changes, remarks) => expect(aboutTool(changes)).toEqual(remarks));

test.each([
  ['without description', { description: '', type: 'number' }, ['warning parameter-description']],
  ['of any type', {}, ['warning parameter-type']],
  ['an array of anything', { type: 'array' }, ['warning array-items']],
  ['with a default of another type', { type: 'number', default: 'x' }, ['error default']],
  ['with an example of another type', { type: 'number', examples: [1, 'x'] }, ['error default']],
  ['that is hidden', { type: 'number', description: 'the \u202Efirst' }, ['error hidden-text']],
])('a parameter %s', (_, schema, remarks) => expect(withParameter(schema)).toEqual(remarks));

test('the server as a whole', () => {
  expect(about({ tools: [WELL, WELL] })).toEqual(['error twice']);
  expect(about({ tools: [WELL, { ...WELL, name: 'addNumbers' }] })).toEqual(['advice spelling']);
  expect(about({ capabilities: { tools: {}, resources: {} } })).toEqual(['advice lists', 'advice lists']);
  expect(about({ problems: ['tools/list returned error 1'] })).toEqual(['error lists']);
  expect(about({ server: { name: 'unknown', version: '', protocol: '' } })).toEqual([
    'error server-info',
    'warning server-info',
  ]);
});

test('prompts, resources and templates', () => {
  expect(about({ prompts: [{ name: 'p', arguments: [{ name: 'a' }, { name: 'a' }] }] })).toEqual([
    'error twice',
    'warning description',
    'warning parameter-description',
    'warning parameter-description',
  ]);
  const described = { name: 'r', description: 'What is there to read.', mimeType: 'text/plain' };
  expect(about({ resources: [{ ...described, uri: 'hours' }] })).toEqual(['error uri']);
  expect(about({ resources: [{ uri: 'shop://hours', name: 'r' }] })).toEqual([
    'advice description',
    'advice mime-type',
  ]);
  expect(about({ templates: [{ ...described, uriTemplate: 'shop://items/{id' }] })).toEqual(['error uri']);
  expect(about({ templates: [{ ...described, uriTemplate: 'shop://items' }] })).toEqual(['warning uri']);
});
