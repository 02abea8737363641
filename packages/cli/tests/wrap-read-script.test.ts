import { mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { readOwnScript } from '../src/wrap/read-script.js';

const root = realpathSync(temporaryFolder());
const newFolder = () => mkdtempSync(join(root, 'own-'));

test('a script is known by the place where it really is', () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'report.py'), 'x = 1\n');
  symlinkSync('report.py', join(folder, 'link.py'));
  expect(readOwnScript(join(folder, 'link.py'))).toEqual({
    path: join(folder, 'report.py'),
    filename: 'report.py',
    code: 'x = 1\n',
  });
});

test.each([
  ['a file that is not there', 'none.py', undefined, 'there is no such file'],
  ['what is below a file', 'report.py/x.py', undefined, 'Could not read'],
  ['a device', '/dev/null', undefined, 'is not a regular file'],
  ['what is not text', 'data.py', 'a\0b', 'it is not text'],
  ['a notebook', 'book.ipynb', '{}', 'jupyter nbconvert'],
  ['what is too large', 'large.py', '#'.repeat(2 * 1024 * 1024 + 1), 'larger than 2097152 bytes'],
])('%s is no script', (_, name, text, words) => {
  const folder = newFolder();
  writeFileSync(join(folder, 'report.py'), '');
  if (text !== undefined) writeFileSync(join(folder, name), text);
  expect(() => readOwnScript(name.startsWith('/') ? name : join(folder, name))).toThrow(words);
});
