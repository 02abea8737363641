import { execFileSync } from 'node:child_process';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  PACKAGES,
  sharedPackageIndex,
  type TestPackage,
} from '../../../../../tests/support/package-index.js';
import { descendantsOf } from '../../../../../tests/support/processes.js';
import { until } from '../../../../../tests/support/until.js';
import type { PackagingOptions, Pin, Target } from '../../../src/environments/packaging/packager.js';
import type { UvPackager } from '../../../src/environments/packaging/uv-packager.js';
import { failureOf, makePackager } from './make-packager.js';
import { installedIn, interpreter, makeVenv, siteOf, temporaryFolder } from './venv.js';

/** Leaves a file beside itself when it is imported. */
const TELLTALE = "open(__file__ + '-ran', 'w')\n";
const HOSTILE: TestPackage[] = [{ name: 'pretender', version: '1.0', files: { 'attr.py': TELLTALE } }];
/** The interpreter has one, of another version. */
const PIP: TestPackage = { name: 'pip', version: '1.2.3' };
const index = await sharedPackageIndex([...PACKAGES, ...HOSTILE, PIP]);
const options: PackagingOptions = { timeoutMs: 60_000, sources: [] };

const start = async (env = {}, base = temporaryFolder()): Promise<UvPackager> =>
  makePackager(base, { ...process.env, ...index.env, ...env });

const resolve = async (
  packager: UvPackager,
  requirements: string[],
  { known = [], ...more }: Partial<PackagingOptions> & { known?: Pin[] } = {},
) => packager.resolve({ python: await interpreter(), requirements, known }, { ...options, ...more });

async function install(packager: UvPackager, requirements: string[], more = {}): Promise<Target> {
  const target = await makeTarget();
  const pins = await resolve(packager, requirements, more);
  await packager.installPinned(target, pins, { ...options, ...more });
  return target;
}

test('chooses versions for everything that is needed, with hashes', async () => {
  const pins = await resolve(await start(), ['extras-pkg[fruit]', 'cherry; python_version > "3"']);
  expect(versions(pins)).toEqual(['apple==1.1', 'banana==1.0', 'cherry==1.0', 'extras-pkg==1.0']);
  expect(pins.every(({ hashes }) => hashes.length > 0)).toBe(true);
  expect(pins.flatMap(({ hashes }) => hashes).filter((hash) => !/^sha256:[0-9a-f]{64}$/.test(hash))).toEqual(
    [],
  );
});

test('keeps the versions that are known, where they will do', async () => {
  const packager = await start();
  const known = await resolve(packager, ['apple==1.0']);
  expect(versions(await resolve(packager, ['apple', 'pthed'], { known }))).toEqual([
    'apple==1.0',
    'pthed==1.0',
  ]);
  expect(versions(await resolve(packager, ['banana', 'pthed'], { known }))).toEqual([
    'apple==2.0',
    'banana==1.0',
    'pthed==1.0',
  ]);
});

test('installs exactly the pins', async () => {
  const [packager, target] = await Promise.all([start(), makeTarget()]);
  const pins = await resolve(packager, ['durian']);
  const steps: string[] = [];
  const some = pins.filter(({ name }) => name !== 'apple');
  await packager.installPinned(target, some, { ...options, onStep: (step) => steps.push(step) });
  expect(installedIn(target.venv)).toEqual(['banana==1.0', 'cherry==1.0', 'durian==1.0']);
  expect(steps.join('\n')).toContain('durian');
});

test('what the interpreter has is installed all the same', async () => {
  const packager = await start();
  const target = await makeTarget('--system-site-packages');
  await packager.installPinned(target, await resolve(packager, ['pip']), options);
  expect(installedIn(target.venv)).toEqual(['pip==1.2.3']);
});

test('a pin with another hash is refused', async () => {
  const [packager, target] = await Promise.all([start(), makeTarget()]);
  const pin = { name: 'apple', version: '1.0', hashes: [`sha256:${'0'.repeat(64)}`] };
  const error = await failureOf(packager.installPinned(target, [pin], options));
  expect(error).toMatchObject({
    code: 'PACKAGE_INSTALLATION_ERROR',
    message: 'apple could not be installed.',
  });
  expect(error.details['explanation']).toMatch(/hash/i);
  expect(installedIn(target.venv)).toEqual([]);
});

test.each(['broken-wheel', 'badhash', 'traversal'])('%s does not come in, or does no harm', async (name) => {
  const packager = await start();
  const target = await makeTarget();
  const work = resolve(packager, [name]).then((pins) => packager.installPinned(target, pins, options));
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  if (name !== 'traversal') expect(error).toMatchObject({ code: 'PACKAGE_INSTALLATION_ERROR' });
  expect(existsSync(join(target.venv, 'lib/escaped.py'))).toBe(false);
});

test("a conflict is told in the resolver's words", async () => {
  const error = await failureOf(resolve(await start(), ['clash', 'cherry']));
  expect(error).toMatchObject({
    code: 'PACKAGE_INSTALLATION_ERROR',
    message: 'clash, cherry could not be resolved.',
  });
  expect(error.details['explanation']).toMatch(/clash.*cherry|cherry.*clash/s);
  expect(error.details['explanation']).not.toMatch(/Using Python|Collecting|warning:/);
});

test('a package that does not exist is not blamed on the network', async () => {
  const error = await failureOf(resolve(await start(), ['no-such-thing']));
  expect(error.message).toMatch(/^no-such-thing could not be resolved\./);
  expect(error.message).not.toMatch(/reached/);
});

test('what has only a source is refused, and nothing of it runs', async () => {
  const home = temporaryFolder();
  const error = await failureOf(resolve(await start({ HOME: home }), ['evilsource']));
  expect(error.message).toMatch(/only wheels are allowed.+PACKAGE_SOURCES=sdist/i);
  expect(existsSync(join(home, 'evilsource-was-here'))).toBe(false);
});

test('no code of the environment runs', async () => {
  const target = await install(await start(), ['pthed', 'pretender']);
  // With a cache of its own, or uv remembers what it was told of the interpreter.
  const packager = await start();
  const site = siteOf(target.venv);
  writeFileSync(join(site, 'sitecustomize.py'), TELLTALE);
  await packager.installPinned(target, await resolve(packager, ['apple==1.0']), options);
  await failureOf(
    packager.installPinned(
      target,
      [{ name: 'apple', version: '9', hashes: [`sha256:${'0'.repeat(64)}`] }],
      options,
    ),
  );
  const traces = ['pthed-was-here', 'attr.py-ran', 'sitecustomize.py-ran'].map((name) => join(site, name));
  expect(traces.filter((path) => existsSync(path))).toEqual([]);
  // They would, but where the system has a sitecustomize of its own.
  execFileSync(join(target.venv, 'bin/python'), ['-c', 'import attr']);
  expect(traces.filter((path) => existsSync(path))).toEqual(expect.arrayContaining(traces.slice(0, 2)));
});

test('wheels of an address and of a path', async () => {
  const address = index.url.replace('/simple', '/files/cherry/cherry-1.0-py3-none-any.whl');
  const path = join(temporaryFolder(), 'cherry-1.0-py3-none-any.whl');
  writeFileSync(path, Buffer.from(await (await fetch(address)).arrayBuffer()));
  const packager = await start();
  for (const url of [address, `file://${path}`]) {
    const sources = ['url', 'path'] as const;
    const pins = await resolve(packager, [`cherry @ ${url}`], { sources });
    expect(versions(pins)).toEqual(['apple==1.1', 'cherry==1.0']);
    const target = await makeTarget();
    await packager.installPinned(target, pins, { ...options, sources });
    expect(installedIn(target.venv)).toEqual(['apple==1.1', 'cherry==1.0']);
  }
});

test('a source is built in the jail, where that is allowed', async () => {
  const home = temporaryFolder();
  const base = temporaryFolder();
  const packager = await start({ HOME: home }, base);
  const { venv } = await install(packager, ['onlysource', 'evilsource', 'apple<2'], { sources: ['sdist'] });
  expect(installedIn(venv)).toEqual(['apple==1.1', 'evilsource==1.0', 'onlysource==1.0']);
  expect(existsSync(join(home, 'evilsource-was-here'))).toBe(false);
  expect(statSync(join(siteOf(venv), 'onlysource.py')).uid).toBe(process.getuid?.());
});

test('a time limit ends the tool', async () => {
  const packager = await start();
  index.hang(true);
  const error = await failureOf(resolve(packager, ['apple'], { timeoutMs: 2500 }));
  index.hang(false);
  expect(error).toMatchObject({
    code: 'PACKAGE_INSTALLATION_ERROR',
    message: 'Resolving apple took longer than 2500 ms (PACKAGE_TIMEOUT_MS).',
  });
  await until(() => descendantsOf(process.pid).length === 0, 'nothing of the tool is left');
});

test('cancelling ends the tool', async () => {
  const packager = await start();
  const cancel = new AbortController();
  index.hang(true);
  const asked = index.requests.length;
  const failed = failureOf(resolve(packager, ['apple'], { signal: cancel.signal }));
  await until(() => index.requests.length > asked, 'the tool asks the index');
  cancel.abort(new Error('enough'));
  expect(await failed).toMatchObject({ code: 'CANCELLED' });
  index.hang(false);
  await until(() => descendantsOf(process.pid).length === 0, 'nothing of the tool is left');
});

test('secrets of an index do not get into the explanation', async () => {
  const secret = index.url.replace('//', '//user:geheim@');
  const packager = await start({ UV_DEFAULT_INDEX: secret, UV_INDEX_URL: secret, PIP_INDEX_URL: secret });
  const allow = index.fail(/apple/, 403);
  const error = await failureOf(resolve(packager, ['apple']));
  allow();
  expect(JSON.stringify(error)).not.toContain('geheim');
});

test('the cache can be pruned', async () => {
  const packager = await start();
  await install(packager, ['apple']);
  await packager.prune(options);
  await install(packager, ['apple']);
});

const makeTarget = async (...venvOptions: string[]): Promise<Target> => ({
  python: await interpreter(),
  venv: await makeVenv(...venvOptions),
});

const versions = (pins: Pin[]) => pins.map(({ name, version }) => `${name}==${version}`).sort();
