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
import { silentLogger } from '../../../src/base/logger.js';
import { OWN_UV_VERSION, ownUvPath } from '../../../src/environments/packaging/own-uv.js';
import { Packaging } from '../../../src/environments/packaging/packaging.js';
import { sharedPackageIndex } from '../../support/package-index.js';
import { until } from '../../support/until.js';
import { failureOf } from './make-packager.js';
import { interpreter, makeVenv, temporaryFolder } from './venv.js';

const says = (sentence: string) => `#!/bin/sh\necho "${sentence}"\n`;

const index = await sharedPackageIndex([
  {
    name: 'uv',
    version: OWN_UV_VERSION,
    files: { [`uv-${OWN_UV_VERSION}.data/scripts/uv`]: says(`uv ${OWN_UV_VERSION} (of the tests)`) },
  },
]);

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
  python?: () => Promise<string>;
  env?: Record<string, string>;
}

const choice = ({
  base = temporaryFolder(),
  path = temporaryFolder(),
  uv,
  python = interpreter,
  env,
}: Scene) =>
  new Packaging(
    { base, python, uv, env: { ...process.env, ...index.env, PATH: path, ...env } },
    silentLogger,
  );

/** An interpreter that has no pip. */
async function barePython(): Promise<string> {
  return join(await makeVenv(), 'bin/python');
}

test('uv of PATH comes first', async () => {
  const path = folderWithUv('uv 0.9.2');
  const packaging = choice({ path });
  const tool = { name: 'uv', version: '0.9.2', path: join(path, 'uv'), origin: 'PATH' };
  expect(await packaging.look()).toEqual({ tool, note: '' });
  expect((await packaging.packager()).tool).toEqual(tool);
});

test('a configured uv is taken, or it is an error', async () => {
  const path = folderWithUv('uv 0.9.2');
  const uv = join(folderWithUv('uv 0.10.0'), 'uv');
  expect((await choice({ path, uv }).packager()).tool).toMatchObject({
    version: '0.10.0',
    origin: 'configured',
  });
  const old = choice({ path, uv: join(folderWithUv('uv 0.4.30'), 'uv') });
  expect(await failureOf(old.packager())).toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: expect.stringMatching(/^PUNGI_UV names .+ is uv 0\.4\.30: 0\.5 or newer is needed\.$/),
  });
  expect(await old.look()).toEqual({ tool: null, note: expect.stringMatching(/^PUNGI_UV names/) });
  expect((await failureOf(choice({ path, uv: '/nowhere/uv' }).packager())).message).toMatch(
    /cannot be run as uv/,
  );
});

test("'off' means the interpreter's pip, though there is a uv", async () => {
  const packaging = choice({ path: folderWithUv('uv 0.9.2'), uv: 'off' });
  const python = await interpreter();
  expect((await packaging.packager()).tool).toMatchObject({
    name: 'pip',
    path: python,
    origin: 'interpreter',
  });
  expect((await packaging.look()).tool).toMatchObject({ name: 'pip' });
});

test('without a uv that will do, one is installed once', async () => {
  const base = temporaryFolder();
  const path = folderWithUv('uv 0.4.30');
  const packaging = choice({ base, path });
  const tool = { name: 'uv', version: OWN_UV_VERSION, path: ownUvPath(base), origin: 'own' };
  expect(await packaging.look()).toEqual({
    tool,
    note: `${path}/uv is uv 0.4.30, older than 0.5, so it is not used. uv ${OWN_UV_VERSION} will be installed once, when packages are first needed.`,
  });
  expect(existsSync(join(base, '.tools'))).toBe(false);
  const steps: string[] = [];
  const tell = () => ({ onStep: (step: string) => steps.push(step) });
  const [first, second] = await Promise.all([packaging.packager(tell()), packaging.packager(tell())]);
  expect(first).toBe(second);
  expect(first.tool).toEqual(tool);
  expect(steps).toEqual(Array(2).fill(`Installing uv ${OWN_UV_VERSION} once, which installs packages`));
  const asked = index.requests.length;
  expect((await choice({ base, path }).packager()).tool).toEqual(tool);
  expect(index.requests).toHaveLength(asked);
  expect(readdirSync(join(base, '.tools'))).toEqual([`uv-${OWN_UV_VERSION}`]);
});

test('servers that install it at the same time all end with one', async () => {
  const base = temporaryFolder();
  const servers = [1, 2, 3].map(() => choice({ base }));
  const packagers = await Promise.all(servers.map((packaging) => packaging.packager()));
  expect(packagers.map(({ tool }) => tool.path)).toEqual(Array(3).fill(ownUvPath(base)));
  expect(readdirSync(join(base, '.tools'))).toEqual([`uv-${OWN_UV_VERSION}`]);
});

test('what a killed installation left is removed, not what another one makes', async () => {
  const base = temporaryFolder();
  const left = join(base, '.tools', '.making-uv-left');
  const young = join(base, '.tools', '.making-uv-young');
  for (const folder of [left, young]) mkdirSync(folder, { recursive: true });
  utimesSync(left, 1, 1);
  await choice({ base }).packager();
  expect(readdirSync(join(base, '.tools')).sort()).toEqual(['.making-uv-young', `uv-${OWN_UV_VERSION}`]);
});

test('if uv cannot be had, it is pip', async () => {
  const packaging = choice({ env: { PIP_INDEX_URL: `${index.url}/../nothing`, PIP_RETRIES: '0' } });
  expect((await packaging.packager()).tool).toMatchObject({ name: 'pip', origin: 'interpreter' });
});

test('with nothing at all, a sentence says what to do', async () => {
  const packaging = choice({ python: barePython });
  const error = await failureOf(packaging.packager());
  expect(error).toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: expect.stringMatching(
      /^Neither uv nor a pip of .+ was found\. Install uv, or name it with PUNGI_UV, or install pip 22\.3 or newer/,
    ),
  });
  expect(await packaging.look()).toEqual({ tool: null, note: expect.stringMatching(/^Neither uv nor/) });
});

test('a choice that failed is made anew', async () => {
  const path = temporaryFolder();
  const packaging = choice({ path, python: barePython });
  await failureOf(packaging.packager());
  symlinkSync(join(folderWithUv('uv 0.9.2'), 'uv'), join(path, 'uv'));
  expect((await packaging.packager()).tool).toMatchObject({ origin: 'PATH' });
});

test('who cancels does not wait, and the others get their choice', async () => {
  const packaging = choice({});
  const cancel = new AbortController();
  index.hang(true);
  const asked = index.requests.length;
  const cancelled = failureOf(packaging.packager({ signal: cancel.signal }));
  const other = packaging.packager();
  await until(() => index.requests.length > asked, 'pip asks the index');
  cancel.abort();
  expect(await cancelled).toMatchObject({ code: 'CANCELLED' });
  expect(await failureOf(packaging.packager({ signal: cancel.signal }))).toMatchObject({ code: 'CANCELLED' });
  index.hang(false);
  expect((await other).tool).toMatchObject({ origin: 'own' });
});
