import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { placeFiles, withFiles } from '../src/call/path-arguments.js';

const PATH = { type: 'string', format: 'path' };
const object = (properties: Record<string, unknown>, more = {}) =>
  ({ type: 'object', properties, ...more }) as const;
const file = (name: string, text: string) => ({ name, text });

const base = temporaryFolder();
const root = join(base, 'root');
mkdirSync(join(root, 'deep/.hidden'), { recursive: true });
writeFileSync(join(base, 'outside.txt'), 'outside');
writeFileSync(join(root, 'a.csv'), 'a,b\n');
writeFileSync(join(root, 'deep/b.csv'), 'b');
for (const name of ['.env', 'deep/.hidden/c.csv']) writeFileSync(join(root, name), 'secret');
writeFileSync(join(root, 'large.bin'), Buffer.alloc(5 * 1024 * 1024));
symlinkSync(join(base, 'outside.txt'), join(root, 'link.txt'));
symlinkSync(join(root, '.env'), join(root, 'plain.txt'));
symlinkSync(base, join(root, 'up'));

const placed = (schema: unknown, value: unknown, roots: string[] = []) =>
  placeFiles(object({ at: schema }), { at: value }, roots).then(({ args, files }) => ({
    at: args['at'],
    files,
  }));

test('the schema of a path says that a file may be given, and keeps its words', () => {
  const { properties } = withFiles(object({ at: { ...PATH, description: 'Which one.', default: 'x' } }));
  expect(properties).toMatchObject({
    at: {
      anyOf: [PATH, { type: 'object', required: ['name'] }],
      default: 'x',
      description: expect.stringMatching(/^Which one\. A file: its content as /),
    },
  });
});

test('paths in lists, choices and classes may be files as well, and nothing else changes', () => {
  const number = { type: 'integer' };
  const schema = object(
    {
      many: { type: 'array', items: PATH },
      maybe: { anyOf: [PATH, { type: 'null' }] },
      number,
      job: { $ref: '#/$defs/Job' },
    },
    { $defs: { Job: object({ source: PATH }) } },
  );
  const shown = withFiles(schema) as unknown as typeof schema & Record<string, never>;
  expect(shown.properties).toMatchObject({
    many: { items: { anyOf: [PATH, { type: 'object' }] } },
    maybe: { anyOf: [PATH, { type: 'object' }, { type: 'null' }] },
    number,
  });
  expect(shown['$defs']).toMatchObject({ Job: { properties: { source: { anyOf: [PATH, {}] } } } });
  const plain = object({ number, text: { type: 'string', format: 'date' } });
  expect(withFiles(plain)).toBe(plain);
});

test.each([
  ['a path', PATH, file('a.csv', 'x'), 'input-files/1/a.csv'],
  ['an optional path', { anyOf: [PATH, { type: 'null' }] }, file('a.csv', 'x'), 'input-files/1/a.csv'],
  [
    'a list of paths',
    { type: 'array', items: PATH },
    [file('a.csv', 'x'), 'b'],
    ['input-files/1/a.csv', 'b'],
  ],
  [
    'a path in an object',
    object({ source: PATH }),
    { source: file('a.csv', 'x') },
    { source: 'input-files/1/a.csv' },
  ],
])('content for %s becomes a file of the work folder', async (_, schema, value, at) => {
  expect(await placed(schema, value)).toEqual({ at, files: [{ path: 'input-files/1/a.csv', text: 'x' }] });
});

test('what is no path is left as it is', async () => {
  for (const value of [file('a', 'x'), 'a.csv', [1], null])
    expect(await placed({ type: ['object', 'string', 'null'] }, value, [root])).toEqual({
      at: value,
      files: [],
    });
  const either = { anyOf: [PATH, object({ name: { type: 'string' } })] };
  expect(await placed(either, file('a', 'x'))).toEqual({ at: file('a', 'x'), files: [] });
});

test.each([
  {},
  { name: 'a' },
  { text: 'x' },
  { name: 'a', text: 'x', base64: 'eA==' },
  { name: 'a', text: 1 },
  { name: 'a', text: 'x', mode: 'w' },
  ...['', '.', '..', '../a', 'a/b', '/a', 'a\\b', 'a\nb', 'a\0', 'x'.repeat(300)].map((name) =>
    file(name, 'x'),
  ),
])('is refused in a sentence: %j', async (value) => {
  const error = await placed(PATH, value).catch((error: unknown) => error);
  expect(error).toMatchObject({
    code: 'INVALID_INPUT',
    details: { issues: [expect.stringMatching(/^at: /)] },
  });
});

test('a file below the roots is copied for the call, by its path from the root or its whole path', async () => {
  const files = [{ path: 'input-files/1/b.csv', base64: 'Yg==' }];
  for (const path of ['deep/b.csv', join(root, 'deep/b.csv'), 'deep/../deep/b.csv'])
    expect(await placed(PATH, path, [join(base, 'none'), root])).toEqual({
      at: 'input-files/1/b.csv',
      files,
    });
});

test.each([
  '../outside.txt',
  join(base, 'outside.txt'),
  'link.txt',
  'up/outside.txt',
  '.env',
  'plain.txt',
  'deep/.hidden/c.csv',
  'deep',
  'missing.csv',
  '/etc/passwd',
  '/dev/zero',
  '',
  'a.csv\0',
])('nothing but a visible file below the roots is read: %j', async (path) => {
  expect(await placed(PATH, path, [root])).toEqual({ at: path, files: [] });
});

test('without roots nothing is read, and too much is refused', async () => {
  expect(await placed(PATH, join(root, 'a.csv'))).toEqual({ at: join(root, 'a.csv'), files: [] });
  await expect(placed(PATH, 'large.bin', [root])).rejects.toThrow('larger than');
  const many = { type: 'array', items: PATH };
  await expect(placed(many, Array(101).fill(file('a', 'x')))).rejects.toThrow('at most 100 files');
});

test('a schema that refers to itself has an end', async () => {
  const schema = object({ at: { $ref: '#/properties/at' } });
  expect(withFiles(schema)).toEqual(schema);
  expect((await placeFiles(schema, { at: 'x' }, [root])).files).toEqual([]);
});
