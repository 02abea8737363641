import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { localModules } from '../../src/wrap/local-modules.js';
import { temporaryFolder } from '../support/places.js';

const root = temporaryFolder();
let count = 0;

/** A folder with these files. */
function folderWith(files: Record<string, string>): string {
  count += 1;
  const folder = join(root, String(count));
  mkdirSync(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** As much of Python as these files use. */
const importsOf = async (code: string) => {
  if (code.includes('(((')) throw new PungiError('PYTHON_ERROR', 'not closed');
  return [...code.matchAll(/^import (\w+)/gm)].map((match) => match[1]!);
};
async function pathsOf(folder: string, imports: string[]): Promise<string[]> {
  const { files } = await localModules(folder, 'report.py', imports, importsOf);
  return files.map(({ path }) => path);
}

describe('the files beside a script that it imports', () => {
  test('are modules, and what those import', async () => {
    const folder = folderWith({
      'report.py': '',
      'money.py': 'import rates\nimport requests',
      'rates.py': 'import money',
      'unused.py': '',
    });
    const found = await localModules(folder, 'report.py', ['money', 'pandas'], importsOf);
    expect(found.files.map(({ path }) => path)).toEqual(['money.py', 'rates.py']);
    expect(found.imports).toEqual(['pandas', 'requests']);
  });

  test('are whole packages, with the data in them and nothing that is compiled or hidden', async () => {
    const folder = folderWith({
      'shop/__init__.py': '',
      'shop/parts/orders.py': 'import money',
      'shop/prices.csv': '1,2',
      'shop/__pycache__/x.pyc': '',
      'shop/.secret': '',
      'shop.py': 'a package wins',
      'money.py': '',
    });
    expect(await pathsOf(folder, ['shop.parts'])).toEqual([
      'shop/__init__.py',
      'shop/parts/orders.py',
      'shop/prices.csv',
      'money.py',
    ]);
  });

  test('are folders without an __init__.py, if there are modules in them', async () => {
    const folder = folderWith({ 'tools/a.py': '', 'data/sales.csv': '' });
    expect(await pathsOf(folder, ['tools', 'data'])).toEqual(['tools/a.py']);
  });

  test('are never the script itself', async () => {
    expect(await pathsOf(folderWith({ 'report.py': '' }), ['report'])).toEqual([]);
  });

  test('do not lead out of the folder by a link', async () => {
    const outside = folderWith({ 'secret.py': 'x = 1' });
    const folder = folderWith({ 'here.py': '' });
    symlinkSync(join(outside, 'secret.py'), join(folder, 'secret.py'));
    symlinkSync('here.py', join(folder, 'there.py'));
    expect(await pathsOf(folder, ['secret', 'there'])).toEqual(['there.py']);
  });

  test('go along where they do not compile, with a remark', async () => {
    const folder = folderWith({ 'broken.py': '(((' });
    const { files, remarks } = await localModules(folder, 'report.py', ['broken'], importsOf);
    expect(files).toHaveLength(1);
    expect(remarks).toEqual([
      { line: 1, name: 'broken.py', reason: 'does not compile: not closed', isSkipped: false },
    ]);
  });

  test('are refused where there are too many, or they are too large', async () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`many/m${index}.py`, '']));
    await expect(pathsOf(folderWith(many), ['many'])).rejects.toThrow('more than 200');
    const large = folderWith({ 'large/__init__.py': '', 'large/data.bin': 'x'.repeat(4 * 1024 * 1024 + 1) });
    await expect(pathsOf(large, ['large'])).rejects.toThrow('larger than 4194304 bytes');
    await expect(
      pathsOf(folderWith({ [`${'deep/'.repeat(12)}m.py`]: '', 'deep/a.py': '' }), ['deep']),
    ).rejects.toThrow('nested more than 10 deep');
  });
});
