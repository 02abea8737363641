import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { PungiError } from '../../core/src/base/errors.js';
import { takeModules } from '../src/discover/discover-script.js';
import { ScriptFolder } from '../src/discover/script-folder.js';

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
/** What goes along with report.py, where this is what it imports and what a person has named. */
async function takeAlong(folder: string, imports: string[], named: string[] = []) {
  const beside = new ScriptFolder(folder, 'report.py');
  for (const path of named) beside.takeNamed(path);
  const found = await takeModules(beside, imports, importsOf);
  return { ...found, beside, paths: beside.files.map(({ path }) => path) };
}
const pathsOf = async (folder: string, imports: string[]) => (await takeAlong(folder, imports)).paths;

describe('the files beside a script that it imports', () => {
  test('are modules, and what those import', async () => {
    const folder = folderWith({
      'report.py': '',
      'money.py': 'import rates\nimport requests',
      'rates.py': 'import money',
      'unused.py': '',
    });
    const found = await takeAlong(folder, ['money', 'pandas']);
    expect(found.paths).toEqual(['money.py', 'rates.py']);
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
    const { paths, remarks } = await takeAlong(folder, ['broken']);
    expect(paths).toEqual(['broken.py']);
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

describe('the files beside a script that a person has named', () => {
  const files = {
    'report.py': '',
    'data.csv': '1',
    'pages/a.html': '',
    'pages/deep/b.html': '',
    'pages/.secret': '',
    'plugin.py': 'import money\nimport requests',
    'money.py': '',
    '.env': 'x',
  };

  test('go along, folders with all that is in them, modules with what they import', async () => {
    const { paths, imports } = await takeAlong(
      folderWith(files),
      ['money'],
      ['data.csv', 'pages', 'plugin.py'],
    );
    expect(paths).toEqual(['data.csv', 'pages/a.html', 'pages/deep/b.html', 'plugin.py', 'money.py']);
    expect(imports).toEqual(['requests']);
  });

  test('go along once, however often they are named, and the script does not go along with itself', async () => {
    const named = ['plugin.py', 'plugin.py', 'pages/a.html', 'pages', 'report.py'];
    const { paths } = await takeAlong(folderWith(files), ['plugin'], named);
    expect(paths).toEqual(['plugin.py', 'pages/a.html', 'pages/deep/b.html', 'money.py']);
  });

  test('are told of where they are left behind', async () => {
    const { beside } = await takeAlong(folderWith(files), ['money'], ['data.csv']);
    const named = [
      'data.csv',
      'pages/a.html',
      'pages',
      'money.py',
      'report.py',
      'nowhere.csv',
      '../x.csv',
      '.env',
    ];
    expect(named.filter((path) => beside.isLeftBehind(path))).toEqual(['pages/a.html', '.env']);
  });

  test.each([
    ['a path upwards', '../secret.csv'],
    ['a path up and down', 'pages/../../secret.csv'],
    ['the folder itself', '.'],
    ['nothing', ''],
    ['an absolute path', '/etc/passwd'],
    ['a path with an empty part', 'pages//a.html'],
    ['a path of Windows', 'pages\\a.html'],
    ['a name with a line break', 'a\nb.csv'],
    ['what is not there', 'nowhere.csv'],
    ['a link to elsewhere', 'out.csv'],
    ['a link to a folder elsewhere', 'outside'],
    ['a file below a link to elsewhere', 'outside/secret.csv'],
    ['a link in a circle', 'loop'],
    ['a pipe', 'pipe'],
    ['a device', 'zero'],
  ])('are not %s', async (_, path) => {
    const folder = folderWith(files);
    const outside = folderWith({ 'secret.csv': 'x' });
    symlinkSync(join(outside, 'secret.csv'), join(folder, 'out.csv'));
    symlinkSync(outside, join(folder, 'outside'));
    symlinkSync('loop', join(folder, 'loop'));
    symlinkSync('/dev/zero', join(folder, 'zero'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(takeAlong(folder, [], [path])).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringMatching(/^Not all that lies beside the script can go along with it: /),
    });
  });

  test('are what a folder holds itself: links to elsewhere, pipes and devices in it stay behind', async () => {
    const folder = folderWith(files);
    const outside = folderWith({ 'secret.csv': 'x' });
    symlinkSync(join(outside, 'secret.csv'), join(folder, 'pages/out.csv'));
    symlinkSync(outside, join(folder, 'pages/outside'));
    symlinkSync('..', join(folder, 'pages/up'));
    symlinkSync('/dev/zero', join(folder, 'pages/zero'));
    execFileSync('mkfifo', [join(folder, 'pages/pipe')]);
    expect((await takeAlong(folder, [], ['pages'])).paths).toEqual(['pages/a.html', 'pages/deep/b.html']);
  });

  test('are not more, and not larger, than what it imports may be', async () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`many/${index}`, '']));
    await expect(takeAlong(folderWith(many), [], ['many'])).rejects.toThrow('more than 200');
    const large = folderWith({ 'data.bin': 'x'.repeat(4 * 1024 * 1024 + 1) });
    await expect(takeAlong(large, [], ['data.bin'])).rejects.toThrow('larger than 4194304 bytes');
  });
});
