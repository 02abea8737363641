import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { toolsNameOf, unregister } from '../src/tools-folder/registrations.js';
import { toolsFile } from './tools.js';
import { write } from './tools-folder.js';

const base = temporaryFolder();

test('a registration is taken away, and the script stays', async () => {
  const folder = mkdtempSync(join(base, 'tools-'));
  write(folder, { 'elsewhere/report.py': '', 'report.tools.json': toolsFile('elsewhere/report.py') });
  expect(await unregister(folder, 'report')).toBe(join(folder, 'report.tools.json'));
  expect(readdirSync(folder)).toEqual(['elsewhere']);
  expect(existsSync(join(folder, 'elsewhere/report.py'))).toBe(true);
});

test.each([
  ['a name that is nearly one', 'reprot', 'do you mean "report"?'],
  ['a name that is none', 'zebra', 'No script is wrapped as "zebra"'],
  ['a script that lies in the tools folder', 'lying', 'move or delete it there'],
  ['one that does, with a tools file of its own', 'both', 'all of it would be offered'],
  ['a path', '../report', 'cannot be the name of tools'],
])('%s is not taken away', async (_, name, words) => {
  const folder = mkdtempSync(join(base, 'tools-'));
  const files = { 'report.tools.json': '{}', 'lying.py': '', 'both.py': '', 'both.tools.json': '{}' };
  write(folder, files);
  await expect(unregister(folder, name)).rejects.toThrow(words);
  expect(readdirSync(folder).sort()).toEqual(Object.keys(files).sort());
});

test.each([
  ['report.py', 'report'],
  ['my report (2).py', 'my_report_2_'],
  ['.hidden.py', 'hidden'],
  ['報告.py', 'script'],
])('the tools of %s are called %s', (filename, name) => {
  expect(toolsNameOf(filename)).toBe(name);
});
