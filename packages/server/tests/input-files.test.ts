import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { call, execute } from './calls.js';
import { behindEveryDoor, TWO_DOORS } from './doors.js';

const folder = temporaryFolder();
chmodSync(folder, 0o755);
const data = join(folder, 'sales');
mkdirSync(join(data, 'sub/deep'), { recursive: true });
writeFileSync(join(data, 'rows.csv'), 'a,b\n1,2\n');
writeFileSync(join(data, 'line\nbreak \u001b[31m'), 'odd');
writeFileSync(Buffer.concat([Buffer.from(join(data, 'bytes-')), Buffer.from([0xff, 0xfe])]), '');
writeFileSync(join(data, 'x'.repeat(255)), '');
writeFileSync(join(folder, 'secret.txt'), 'not for clients');
symlinkSync('..', join(data, 'up'));
symlinkSync('loop', join(data, 'loop'));
symlinkSync('rows.csv', join(data, 'current'));
execFileSync('mkfifo', [join(data, 'pipe')]);
for (let number = 0; number < 250; number += 1) writeFileSync(join(data, 'sub', `file-${1000 + number}`), '');

behindEveryDoor({ DATA_ROOTS: data, ARTIFACT_DIR: temporaryFolder() }, (door) => {
  test('list_files names the roots, and then what is in a folder, whatever its names are', async () => {
    const { client } = door();
    expect((await call(client, 'list_files', {})).text).toContain('data/sales/');
    const { text, data: list } = await call(client, 'list_files', { path: 'data/sales/' });
    expect(text.split('\n')).toEqual([
      'data/sales/: 9 entries',
      'bytes-\\xff\\xfe  0 bytes',
      'current  8 bytes',
      'line\\nbreak \\x1b[31m  3 bytes',
      'loop  (link)',
      'pipe  (special)',
      'rows.csv  8 bytes',
      'sub/',
      expect.stringMatching(/^up/),
      `${'x'.repeat(255)}  0 bytes`,
    ]);
    expect(list).toMatchObject({ path: 'data/sales', total: 9 });
  });

  test('a long folder comes in parts that are whole together', async () => {
    const names: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const { data: list } = await call(door().client, 'list_files', { path: 'data/sales/sub', offset });
      const { entries, nextOffset } = list as { entries: { name: string }[]; nextOffset?: number };
      names.push(...entries.map(({ name }) => name));
      offset = nextOffset;
    }
    expect(names).toHaveLength(251);
    expect(new Set(names).size).toBe(251);
  });

  test.each([
    '.',
    '/',
    folder,
    '..',
    'data/other',
    'data/sales/..',
    'data/sales/../..',
    'data/sales/up/secret.txt',
  ])('the path %s leads nowhere', async (path) => {
    const { isError, text } = await call(door().client, 'list_files', { path });
    expect(isError).toBe(true);
    expect(text).not.toContain('secret.txt ');
  });

  test('a file and a folder that is not there are said to be so', async () => {
    const { client } = door();
    const file = await call(client, 'list_files', { path: 'data/sales/rows.csv' });
    expect(file).toMatchObject({
      isError: true,
      text: expect.stringContaining('it is a file: open it in code'),
    });
    const none = await call(client, 'list_files', { path: 'data/sales/none' });
    expect(none).toMatchObject({ isError: true, text: expect.stringContaining('No such file') });
  });

  test('a file that is uploaded in parts is a file of a run', async () => {
    const { client } = door();
    const first = await call(client, 'upload_file', { text: 'é1' });
    const { upload, size } = first.data as { upload: string; size: number };
    expect(first.text).toBe(`${upload} has 3 bytes. The next part: offset 3.`);
    const base64 = Buffer.from('22').toString('base64');
    const second = await call(client, 'upload_file', { upload, offset: size, base64 });
    expect(second.data).toEqual({ upload, size: 5 });
    const { outcome } = await execute(client, {
      code: 'print(open("it").read())',
      files: [{ path: 'it', upload }],
    });
    expect(outcome.stdout.text).toBe('é122\n');
    const noOffset = await call(client, 'upload_file', { upload, text: 'x' });
    expect(noOffset).toMatchObject({ isError: true, text: expect.stringContaining('give the offset') });
  });
});

describe('over HTTP without tokens', () => {
  const http = TWO_DOORS.find(({ transport }) => transport === 'HTTP');
  test.runIf(http !== undefined)("the list shows nobody's uploads and runs", async () => {
    const { client, close } = await http!.connect(http!.era, {
      DATA_ROOTS: data,
      ARTIFACT_DIR: temporaryFolder(),
    });
    try {
      const { data: added } = await call(client, 'upload_file', { text: 'x' });
      await execute(client, { code: 'open("left.txt", "w").write("x")' });
      const { text } = await call(client, 'list_files', {});
      expect(text).toBe('data/sales/');
      expect(added).toMatchObject({ size: 1 });
    } finally {
      await close();
    }
  });
  test.runIf(http !== undefined)(
    'where there is nothing else, it says that these are not listed',
    async () => {
      const { client, close } = await http!.connect(http!.era, { ARTIFACT_DIR: temporaryFolder() });
      try {
        await call(client, 'upload_file', { text: 'x' });
        const { text } = await call(client, 'list_files', {});
        expect(text).toContain('not listed over HTTP');
      } finally {
        await close();
      }
    },
  );
});
