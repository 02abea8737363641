import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedPackageIndex } from '../../../../../tests/support/package-index.js';
import { until } from '../../../../../tests/support/until.js';
import { silentLogger } from '../../../src/base/logger.js';
import { OWN_UV_VERSION, ownUvPath } from '../../../src/environments/packaging/find-uv.js';
import type { UvWheel } from '../../../src/environments/packaging/packager.js';
import { Packaging } from '../../../src/environments/packaging/packaging.js';
import { failureOf } from './make-packager.js';
import { makeVenv, temporaryFolder } from './venv.js';

const says = (sentence: string) => `#!/bin/sh\necho "${sentence}"\n`;

const index = await sharedPackageIndex([
  {
    name: 'uv',
    version: OWN_UV_VERSION,
    files: { [`uv-${OWN_UV_VERSION}.data/scripts/uv`]: says(`uv ${OWN_UV_VERSION} (of the tests)`) },
  },
]);

const wheelUrl = index.url.replace('/simple', `/files/uv/uv-${OWN_UV_VERSION}-py3-none-any.whl`);
const wheelBytes = Buffer.from(await (await fetch(wheelUrl)).arrayBuffer());
/** The wheel of the index, in the place of the one that was published. */
const uvWheel: UvWheel = {
  filename: `uv-${OWN_UV_VERSION}-py3-none-any.whl`,
  sha256: createHash('sha256').update(wheelBytes).digest('hex'),
};

/** A folder with a program `uv` that says this. */
function folderWithUv(sentence: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'uv'), says(sentence));
  chmodSync(join(folder, 'uv'), 0o755);
  return folder;
}

interface Scene {
  base?: string;
  path?: string;
  uv?: string;
  uvWheel?: UvWheel;
  python?: string;
  env?: Record<string, string>;
}

/** Unless a test says otherwise there is no uv: none on PATH, and none beside an interpreter that has no pip either. */
const choice = ({ base = temporaryFolder(), path = temporaryFolder(), python, env, ...more }: Scene) =>
  new Packaging(
    {
      base,
      python: async () => python ?? join(await makeVenv(), 'bin/python'),
      env: { ...process.env, ...index.env, PATH: path, ...env },
      uvWheel,
      ...more,
    },
    silentLogger,
  );

test('uv of PATH comes first', async () => {
  const path = folderWithUv('uv 0.9.2');
  const packaging = choice({ path });
  const uv = { version: '0.9.2', path: join(path, 'uv'), origin: 'PATH' };
  expect(await packaging.look()).toEqual({ uv, note: '' });
  expect((await packaging.packager()).uv).toEqual(uv);
});

test('a configured uv is taken, or it is an error', async () => {
  const path = folderWithUv('uv 0.9.2');
  const uv = join(folderWithUv('uv 0.10.0'), 'uv');
  expect((await choice({ path, uv }).packager()).uv).toMatchObject({
    version: '0.10.0',
    origin: 'configured',
  });
  const old = choice({ path, uv: join(folderWithUv('uv 0.4.30'), 'uv') });
  expect(await failureOf(old.packager())).toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: expect.stringMatching(/^PUNGI_UV names .+ is uv 0\.4\.30: 0\.5 or newer is needed\.$/),
  });
  expect(await old.look()).toEqual({ uv: null, note: expect.stringMatching(/^PUNGI_UV names/) });
  expect((await failureOf(choice({ path, uv: '/nowhere/uv' }).packager())).message).toMatch(
    /cannot be run as uv/,
  );
});

test('a uv beside the interpreter is used where there is none on PATH', async () => {
  const python = join(await makeVenv(), 'bin/python');
  const beside = join(python, '../uv');
  symlinkSync(join(folderWithUv('uv 0.9.2'), 'uv'), beside);
  const uv = { version: '0.9.2', path: beside, origin: 'interpreter' };
  expect(await choice({ python }).look()).toEqual({ uv, note: '' });
  expect((await choice({ python, path: folderWithUv('uv 0.9.3') }).packager()).uv).toMatchObject({
    version: '0.9.3',
    origin: 'PATH',
  });
});

test('without a uv that will do, one is fetched once, without pip', async () => {
  const base = temporaryFolder();
  const path = folderWithUv('uv 0.4.30');
  const packaging = choice({ base, path });
  const uv = { version: OWN_UV_VERSION, path: ownUvPath(base), origin: 'own' };
  expect(await packaging.look()).toEqual({
    uv,
    note: `${path}/uv is uv 0.4.30, older than 0.5, so it is not used. uv ${OWN_UV_VERSION} will be fetched once, when packages are first needed.`,
  });
  expect(existsSync(join(base, '.tools'))).toBe(false);
  const steps: string[] = [];
  const tell = () => ({ onStep: (step: string) => steps.push(step) });
  const [first, second] = await Promise.all([packaging.packager(tell()), packaging.packager(tell())]);
  expect(first).toBe(second);
  expect(first.uv).toEqual(uv);
  expect(steps).toEqual(Array(2).fill(`Fetching uv ${OWN_UV_VERSION} once, which installs packages`));
  const asked = index.requests.length;
  expect((await choice({ base, path }).packager()).uv).toEqual(uv);
  expect(index.requests).toHaveLength(asked);
  expect(readdirSync(join(base, '.tools'))).toEqual([`uv-${OWN_UV_VERSION}`]);
});

test('servers that fetch it at the same time all end with one', async () => {
  const base = temporaryFolder();
  const servers = [1, 2, 3].map(() => choice({ base }));
  const packagers = await Promise.all(servers.map((packaging) => packaging.packager()));
  expect(packagers.map(({ uv }) => uv.path)).toEqual(Array(3).fill(ownUvPath(base)));
  expect(readdirSync(join(base, '.tools'))).toEqual([`uv-${OWN_UV_VERSION}`]);
});

test('what a killed server left is removed, not what another one makes', async () => {
  const base = temporaryFolder();
  const left = join(base, '.tools', '.making-uv-left');
  const young = join(base, '.tools', '.making-uv-young');
  for (const folder of [left, young]) mkdirSync(folder, { recursive: true });
  utimesSync(left, 1, 1);
  await choice({ base }).packager();
  expect(readdirSync(join(base, '.tools')).sort()).toEqual(['.making-uv-young', `uv-${OWN_UV_VERSION}`]);
});

test('a folder that cannot be written is named, and not that uv is missing', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const base = join(file, 'environments');
  expect(await failureOf(choice({ base }).packager())).toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: `The folder for environments, ${base}, cannot be written (ENOTDIR); choose another with VENVS_BASE_PATH.`,
  });
});

test('a wheel other than the published one is not used', async () => {
  const base = temporaryFolder();
  const packaging = choice({ base, uvWheel: { ...uvWheel, sha256: '0'.repeat(64) } });
  expect(await failureOf(packaging.packager())).toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: `uv was not found. uv could not be fetched: expected a wheel with sha256 ${'0'.repeat(64)}, got ${uvWheel.sha256}. Install uv, or name it with PUNGI_UV.`,
  });
  expect(readdirSync(join(base, '.tools'))).toEqual([]);
});

test.each([
  ['an index without it', { UV_DEFAULT_INDEX: `${index.url}/../nothing` }, 'The index answered 404'],
  ['no index at all', { PIP_NO_INDEX: '1', UV_DEFAULT_INDEX: '', UV_INDEX_URL: '' }, 'allow no index'],
  ['UV_OFFLINE', { UV_OFFLINE: '1' }, 'allow no index'],
  [
    'nobody at the index',
    { UV_DEFAULT_INDEX: 'http://127.0.0.1:9/simple' },
    'the package index cannot be reached (127.0.0.1:9)',
  ],
])('with %s, one sentence says why and what to do', async (_, env, why) => {
  const error = await failureOf(choice({ env }).packager());
  expect(error.code).toBe('TOOL_UNAVAILABLE');
  expect(error.message).toContain(`uv was not found. uv could not be fetched: `);
  expect(error.message).toContain(why);
  expect(error.message).toMatch(/ Install uv, or name it with PUNGI_UV\.$/);
});

test('a folder of find-links serves where no index is allowed', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, uvWheel.filename), wheelBytes);
  const env = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder, UV_DEFAULT_INDEX: '', UV_INDEX_URL: '' };
  expect((await choice({ env }).packager()).uv).toMatchObject({ origin: 'own' });
});

test('an index that lacks it leaves it to the next one', async () => {
  const env = { UV_DEFAULT_INDEX: `${index.url}/../nothing`, UV_INDEX: `named=${index.url}` };
  expect((await choice({ env }).packager()).uv).toMatchObject({ origin: 'own' });
});

test('a choice that failed is made anew', async () => {
  const path = temporaryFolder();
  const packaging = choice({ path, env: { UV_OFFLINE: '1' } });
  await failureOf(packaging.packager());
  symlinkSync(join(folderWithUv('uv 0.9.2'), 'uv'), join(path, 'uv'));
  expect((await packaging.packager()).uv).toMatchObject({ origin: 'PATH' });
});

test('who cancels does not wait, and the others get their choice', async () => {
  const packaging = choice({});
  const cancel = new AbortController();
  index.hang(true);
  const asked = index.requests.length;
  const cancelled = failureOf(packaging.packager({ signal: cancel.signal }));
  const other = packaging.packager();
  await until(() => index.requests.length > asked, 'the index is asked');
  cancel.abort();
  expect(await cancelled).toMatchObject({ code: 'CANCELLED' });
  expect(await failureOf(packaging.packager({ signal: cancel.signal }))).toMatchObject({ code: 'CANCELLED' });
  index.hang(false);
  expect((await other).uv).toMatchObject({ origin: 'own' });
});
