import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { execute } from './calls.js';
import { behindTwoDoors } from './doors.js';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pungi-scripts-')));
const root = join(folder, 'root');
const secret = join(folder, 'secret.py');
mkdirSync(join(root, 'sub'), { recursive: true });
writeFileSync(secret, 'print("secret")');
writeFileSync(
  join(root, 'sub', 'greet.py'),
  'import sys\nif __name__ == "__main__":\n    print("hello", sys.argv[1], input())\n',
);
writeFileSync(join(root, 'sub', 'prices.csv'), 'tea,3\n');
writeFileSync(join(root, 'sub', 'read.py'), 'open("prices.csv")\n');
symlinkSync(secret, join(root, 'link.py'));
symlinkSync(folder, join(root, 'up'));
afterAll(() => rmSync(folder, { recursive: true }));

behindTwoDoors({ SCRIPT_ROOTS: root }, (door) => {
  const executeFile = (filePath: string, more = {}) =>
    execute(door().client, { filePath, ...more }, 'execute_python_file');

  test('a file below a root runs as a script', async () => {
    const { outcome } = await executeFile(join(root, 'sub', 'greet.py'), {
      argv: ['you'],
      inputData: ['there'],
    });
    expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, stdout: { text: 'hello you there\n' } });
  });

  test.each([
    ['outside the roots', secret],
    ['with .. out of a root', `${root}/../secret.py`],
    ['through a symbolic link to a file', join(root, 'link.py')],
    ['through a symbolic link to a folder', join(root, 'up', 'secret.py')],
    ['that does not exist', join(root, 'nothing.py')],
  ])('a file %s is refused', async (_where, filePath) => {
    const { outcome, isError } = await executeFile(filePath);
    expect(isError).toBe(true);
    expect(['denied', 'invalid']).toContain(outcome.verdict.kind);
    expect(JSON.stringify(outcome)).not.toContain('print(');
    expect(outcome.stdout.text).toBe('');
  });

  test.each([
    ['by its path below the root', { code: 'open("sub/prices.csv")' }],
    ['by its whole path', { code: `open(${JSON.stringify(join(root, 'sub', 'prices.csv'))})` }],
    ['by its name next to the script', { filePath: 'sub/read.py' }],
  ])('a file below a root that code opens %s: the hint says how to pass it', async (_, args) => {
    const tool = 'code' in args ? 'execute_python' : 'execute_python_file';
    const { structured, texts } = await execute(door().client, args, tool);
    const hint =
      'There is a file "sub/prices.csv", but a run sees only the files passed to it: pass it in files, as "sub/prices.csv".';
    expect(structured).toMatchObject({ error: { code: 'PYTHON_ERROR', hint } });
    expect(texts[0]).toContain(hint);
  });

  test.each([
    ['that does not exist', 'nothing.csv'],
    ['outside of the roots', secret],
    ['above a root', 'sub/../../secret.py'],
    ['behind a link out of the root', 'up/secret.py'],
    ['behind a link to it', 'link.py'],
  ])('nothing is said of a file %s', async (_, path) => {
    const { structured } = await execute(door().client, { code: `open(${JSON.stringify(path)})` });
    expect(structured).toMatchObject({ error: { message: expect.stringContaining('FileNotFoundError') } });
    expect(structured).not.toHaveProperty('error.hint');
  });
});
