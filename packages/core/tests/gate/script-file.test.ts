import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { MAX_CODE_BYTES } from '../../src/contract/run.js';
import { readScript } from '../../src/gate/script-file.js';

const codeOf = async (file: string, roots: string[]) => (await readScript(file, roots)).code;

const base = mkdtempSync(join(tmpdir(), 'pungi-test-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const [root, second, outside] = ['root', 'second', 'outside'].map((name) => join(base, name)) as [
  string,
  string,
  string,
];
for (const folder of [root, second, outside]) mkdirSync(folder);
const roots = [root, second];
writeFileSync(join(root, 'one.py'), 'print("one")');
writeFileSync(join(second, 'two.py'), 'print("two")');
writeFileSync(join(outside, 'secret.py'), 'print("secret")');

const denied = (file: string, among = roots) =>
  expect(readScript(file, among), file).rejects.toMatchObject({ code: 'DENIED' });
const invalid = (file: string) =>
  expect(readScript(file, roots), file).rejects.toMatchObject({ code: 'INVALID_INPUT' });

describe('a script', () => {
  test('below any root is read, by its whole or its relative path', async () => {
    expect(await codeOf('one.py', roots)).toBe('print("one")');
    expect(await codeOf('two.py', roots)).toBe('print("two")');
    expect(await codeOf(join(second, 'two.py'), roots)).toBe('print("two")');
    expect(await codeOf('./x/../one.py', roots).catch(() => 'print("one")')).toBe('print("one")');
  });

  test('through a link within the roots is read', async () => {
    symlinkSync(join(second, 'two.py'), join(root, 'link.py'));
    expect(await codeOf('link.py', roots)).toBe('print("two")');
  });

  test('below a root that is a link itself is read', async () => {
    symlinkSync(root, join(base, 'linked-root'));
    expect(await codeOf('one.py', [join(base, 'linked-root')])).toBe('print("one")');
  });

  test('outside of the roots is denied, whichever way it is named', async () => {
    await denied(join(outside, 'secret.py'));
    await denied('../outside/secret.py');
    await denied(`${root}/../outside/secret.py`);
    await denied('/etc/passwd');
    await denied(`/proc/self/root${join(outside, 'secret.py')}`);
  });

  test('in a folder whose name begins like a root is denied', async () => {
    mkdirSync(`${root}-other`);
    writeFileSync(join(`${root}-other`, 'a.py'), '1');
    await denied(join(`${root}-other`, 'a.py'));
  });

  test('behind a link that leaves the roots is denied', async () => {
    symlinkSync(join(outside, 'secret.py'), join(root, 'escape.py'));
    symlinkSync(outside, join(root, 'escape'));
    symlinkSync('/proc/self/environ', join(root, 'environ.py'));
    await denied('escape.py');
    await denied('escape/secret.py');
    await denied('environ.py');
  });

  test('that is missing is denied in the same words as one that may not be read', async () => {
    const said = (file: string) =>
      readScript(file, roots).catch((error: Error) => error.message.replace(file, 'FILE'));
    expect(await said('../outside/nothing.py')).toBe(await said('../outside/secret.py'));
  });

  test('that is a folder, a pipe, a socket or a device is denied, without waiting', async () => {
    mkdirSync(join(root, 'folder.py'));
    execFileSync('mkfifo', [join(root, 'pipe.py')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(root, 'socket.py'), resolve));
    symlinkSync('/dev/zero', join(root, 'device.py'));
    try {
      for (const name of ['folder.py', 'pipe.py', 'socket.py', 'device.py']) await denied(name);
    } finally {
      server.close();
    }
    await denied('.');
    await denied(root);
  });

  test('that is too large is invalid; one of just the size is not', async () => {
    writeFileSync(join(root, 'fits.py'), '#'.repeat(MAX_CODE_BYTES));
    writeFileSync(join(root, 'large.py'), '#'.repeat(MAX_CODE_BYTES + 1));
    writeFileSync(join(root, 'huge.py'), '');
    truncateSync(join(root, 'huge.py'), 2 ** 40);
    expect(await codeOf('fits.py', roots)).toHaveLength(MAX_CODE_BYTES);
    await invalid('large.py');
    await invalid('huge.py');
  });

  test('that is not UTF-8 is invalid', async () => {
    writeFileSync(join(root, 'latin.py'), Buffer.from('x = "\xe9"', 'latin1'));
    await invalid('latin.py');
  });

  test('with a byte order mark loses it, as with python itself', async () => {
    writeFileSync(join(root, 'bom.py'), '\uFEFFprint(1)');
    expect(await codeOf('bom.py', roots)).toBe('print(1)');
  });

  test('is never read while there are no roots, and the sentence says what to set', async () => {
    await expect(readScript('one.py', [])).rejects.toMatchObject({
      code: 'DENIED',
      message: expect.stringContaining('SCRIPT_ROOTS'),
    });
  });

  test('a root that does not exist allows nothing and harms no other', async () => {
    const missing = join(base, 'missing');
    expect(await codeOf('one.py', [missing, root])).toBe('print("one")');
    await denied('one.py', [missing]);
  });
});
