import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PungiError } from '../../src/base/errors.js';
import {
  printed,
  publicInterpreter,
  readableFolder,
  SANDBOXES,
  sharedPungi,
  startPungi,
  withPungi,
} from '../engine/pungi.js';

const PUNGI_PYTHON = await publicInterpreter();
const { folder, make } = readableFolder();
make('sales/2026/rows.csv', 'a,b\n1,2\n');
make('old/sales/rows.csv', 'old');
make('own/rows.csv', 'own');
const secret = make('secret.txt', 'not for runs');
symlinkSync('../secret.txt', join(folder, 'sales/out'));
symlinkSync('2026/rows.csv', join(folder, 'sales/current'));
symlinkSync('loop', join(folder, 'sales/loop'));
make(
  'profiles.yaml',
  `profiles:
  own: {workspace: [{name: sales, path: own}]}
  kept: {cache_ttl: 60}
`,
);
const DATA_ROOTS = [join(folder, 'sales'), join(folder, 'old/sales'), join(folder, 'sales/')].join(':');
const BY_WHOLE_PATH: [string, string] = ['by its path on the server', join(folder, 'sales/2026/rows.csv')];
const PROFILES_FILE = join(folder, 'profiles.yaml');

describe.each(SANDBOXES)('folders that every run can read, in the %s tier', (PUNGI_TIER) => {
  const pungi = sharedPungi({ DATA_ROOTS, PROFILES_FILE, PUNGI_TIER, PUNGI_PYTHON });

  test('appear below data/, each under a name of its own', async () => {
    const code =
      'import os\nprint(sorted(os.listdir("data")), open("data/sales/2026/rows.csv").read(), end="")';
    expect(await printed(pungi, { code })).toBe("['sales', 'sales-2'] a,b\n1,2\n");
    expect(await printed(pungi, { code: 'print(open("data/sales-2/rows.csv").read(), end="")' })).toBe('old');
  });

  test('are there in a session from its first call on', async () => {
    const { session } = await pungi.run({ code: 'file = open("data/sales-2/rows.csv")', session: 'new' });
    expect(await printed(pungi, { code: 'print(file.read())', session: session!.id })).toBe('old\n');
  });

  test('a link in them leads to another file of the root, and nowhere else', async () => {
    const code = `
print(open("data/sales/current").read()[:3])
for path in ("data/sales/out", "data/sales/../secret.txt", "data/sales/loop", ${JSON.stringify(secret)}):
    try:
        print("read", open(path).read())
    except OSError as error:
        print(type(error).__name__)
`;
    const lines = (await printed(pungi, { code })).split('\n');
    expect(lines[0]).toBe('a,b');
    expect(lines.filter((line) => line.startsWith('read'))).toEqual([]);
  });

  test('the workspace of a profile wins over a root of the same name', async () => {
    const code = 'import os\nprint(sorted(os.listdir("data")), open("data/sales/rows.csv").read(), end="")';
    expect(await printed(pungi, { code, profile: 'own' })).toBe("['sales', 'sales-2'] own");
  });

  test('the folder of all roots is listed, too', async () => {
    const names = (await pungi.listFolder({ path: 'data' })).entries.map(({ name }) => name);
    expect(names).toEqual(['sales/', 'sales-2/']);
    expect(await pungi.listFolder({ path: './data/', offset: 1 })).toEqual({
      path: 'data',
      entries: [{ name: 'sales-2/' }],
      total: 2,
    });
  });

  test('a file of the request may lie beside them, and not in them', async () => {
    const files = [{ path: 'data/mine.csv', text: 'mine' }];
    expect(await printed(pungi, { code: 'print(open("data/mine.csv").read())', files })).toBe('mine\n');
    const inside = await pungi.run({ code: '1', files: [{ path: 'data/sales/mine.csv', text: '' }] });
    expect(inside.verdict).toMatchObject({ code: 'INVALID_INPUT' });
  });

  test.each<[how: string, path: string]>([
    ['by its path below the root', '2026/rows.csv'],
    ['by its name and path', 'sales/2026/rows.csv'],
    // In the landlock tier it is there under this path, too.
    ...(PUNGI_TIER === 'landlock' ? [] : [BY_WHOLE_PATH]),
  ])('a file that code opens %s: the hint names its path below data/', async (_, path) => {
    const { verdict } = await pungi.run({ code: `open(${JSON.stringify(path)})` });
    const hint = 'There is a file "2026/rows.csv" in the data: open "data/sales/2026/rows.csv".';
    expect(verdict).toMatchObject({ kind: 'python-error', exception: { hint } });
  });

  test('an outcome that a profile keeps is not used after a change of the data', async () => {
    const changing = make('old/sales/changing.csv', 'one');
    const request = { code: 'print(open("data/sales-2/changing.csv").read())', profile: 'kept' };
    expect(await printed(pungi, request)).toBe('one\n');
    writeFileSync(changing, 'other');
    expect(await printed(pungi, request)).toBe('other\n');
    expect((await pungi.run(request)).cached).not.toBeNull();
  });
});

const problemOf = (settings: Record<string, string>): PungiError | undefined => {
  try {
    void startPungi(settings).close();
    return undefined;
  } catch (thrown) {
    return thrown as PungiError;
  }
};

test.each([
  ['does not exist', join(folder, 'none'), 'does not exist; create it, or name another folder.'],
  ['is a file', secret, 'is not a folder; name its folder.'],
  ['is the whole machine', '/', 'is the whole machine; name a folder below it.'],
])('a root that %s: the server does not start, and says why', (_, root, why) => {
  const { code, message } = problemOf({ DATA_ROOTS: root })!;
  expect(code).toBe('CONFIGURATION_ERROR');
  expect(message).toBe(`DATA_ROOTS: ${root} ${why}`);
});

test('a root that has gone since the start: runs are denied, and health says why', async () => {
  const gone = join(folder, 'gone');
  mkdirSync(gone);
  // Parked workers hold the folder: the one that is asked for here is not warmed up.
  await withPungi({ DATA_ROOTS: gone, MAX_REQUEST_MEMORY_MB: '1024' }, async (pungi) => {
    rmSync(gone, { recursive: true });
    const { verdict } = await pungi.run({ code: '1', limits: { memoryMb: 1024 } });
    expect(verdict).toMatchObject({ kind: 'denied', reason: expect.stringContaining('it does not exist') });
    expect((await pungi.health()).problem).toContain(`DATA_ROOTS: ${gone} does not exist`);
  });
});
