import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CleanReport,
  EnvironmentInfo,
  PackageInfo,
  PackageReport,
} from '../../core/src/contract/environment.js';
import { openWorld } from './environments.js';

const world = await openWorld();
const { env, json } = world;
const folder = mkdtempSync(join(tmpdir(), 'test-env-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const Shown = EnvironmentInfo.extend({ packages: PackageInfo.array() });
const show = async (name: string) => Shown.parse(await json(['show', name]));
const packagesOf = async (name: string) =>
  (await show(name)).packages.map((one) => `${one.name}==${one.version}`).sort();

beforeAll(async () => {
  await json(['create', 'fruit', 'banana', '-d', 'for the kitchen']);
});

describe('create', () => {
  test('makes an environment and tells each package, what came with it, and the tool', async () => {
    const { status, stdout } = await env(['create', 'fresh', 'banana>=1', 'apple<2', '-d', 'a try']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ banana 1\.0\n✓ apple 1\.1\nInstalled 2 packages into "fresh" with uv /);
    expect(stdout).toMatch(/\nCreated the environment "fresh" with Python 3\.[\d.]+\.\n$/);
    expect(await show('fresh')).toMatchObject({ description: 'a try', requested: ['banana>=1', 'apple<2'] });
  });
  test('without packages makes an empty one', async () => {
    const made = (await json(['create', 'empty'])) as { environment: unknown; report: unknown };
    expect(EnvironmentInfo.parse(made.environment)).toMatchObject({ venvName: 'empty', packageCount: 0 });
    expect(made.report).toBeNull();
  });
  test('with --json is the environment and the report', async () => {
    const made = (await json(['create', 'shaped', 'durian'])) as { environment: unknown; report: unknown };
    expect(EnvironmentInfo.parse(made.environment)).toMatchObject({ state: 'ready', packageCount: 4 });
    const { packages, added } = PackageReport.parse(made.report);
    expect(packages).toEqual([{ package: 'durian', status: 'installed', version: '1.0', why: null }]);
    expect(added.map(({ name }) => name).sort()).toEqual(['apple', 'banana', 'cherry', 'durian']);
  });
  test('tells its steps as lines on standard error, and nothing with --quiet', async () => {
    const told = await env(['create', 'told', 'apple']);
    expect(told.stderr).toMatch(/^(\S[^\n]*\n)+$/);
    expect(told.stderr).not.toContain('\x1b');
    expect(told.stdout).not.toContain('\x1b');
    const quiet = await env(['create', 'quiet', 'apple', '--quiet']);
    expect({ status: quiet.status, stderr: quiet.stderr }).toEqual({ status: 0, stderr: '' });
  });
});

describe('list', () => {
  test('is a table with the default one first and marked', async () => {
    const { status, stdout, stderr } = await env(['list']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [heading, first, ...rest] = stdout.trimEnd().split('\n');
    expect(heading?.trim().split(/ {2,}/)).toEqual([
      'NAME',
      'PYTHON',
      'PACKAGES',
      'SIZE',
      'SHARED',
      'LAST USED',
      'DESCRIPTION',
    ]);
    expect(first).toMatch(/^\* {2}default +3\.[\d.]+ +0 .*nothing installed yet/);
    const fruit = rest.find((line) => line.includes(' fruit '));
    expect(fruit).toMatch(/^ {3}fruit +3\.[\d.]+ +2 +[\d.]+ MB +[\d.]+ MB +\S.*for the kitchen$/);
  });
  test('with --json is a list of environments', async () => {
    const listed = EnvironmentInfo.array().parse(await json(['list']));
    expect(listed[0]).toMatchObject({ venvName: 'default', isDefault: true, path: null });
    expect(listed.find(({ venvName }) => venvName === 'fruit')).toMatchObject({
      description: 'for the kitchen',
    });
  });
  test('shows those of scripts only with --all', async () => {
    const script = '# /// script\n# dependencies = ["scripted"]\n# ///\nimport scripted\n';
    expect(await world.run(['run', '--json', '-c', script])).toMatchObject({ status: 0 });
    const few = await env(['list']);
    expect(few.stdout).not.toContain('inline-');
    expect(few.stdout).toMatch(/\n1 environment of scripts not shown: --all\n$/);
    expect((await env(['list', '--all'])).stdout).toMatch(/\n {3}inline-[0-9a-f]+ .*scripted/);
  });
  test('a description cannot command the terminal, nor break the table', async () => {
    await json(['create', 'loud', '-d', 'red \x1b[31m alert\x07\nsecond\u202Eline']);
    const { stdout } = await env(['list']);
    expect(stdout).toMatch(/ loud .*red +alert� second�line\n/);
  });
});

describe('show', () => {
  test('tells all facts and packages', async () => {
    const { stdout } = await env(['show', 'fruit']);
    for (const words of [
      'fruit\n',
      'ready',
      'for the kitchen',
      world.base,
      'banana',
      'Packages (2)\n',
      'UTC (',
    ]) {
      expect(stdout).toContain(words);
    }
    expect(stdout).toMatch(/\n {4}apple {3}2\.0\n {4}banana {2}1\.0\n$/);
  });
  test('without a name is the default one, with the packages of the interpreter', async () => {
    const shown = Shown.parse(await json(['show']));
    expect(shown).toMatchObject({ venvName: 'default', isDefault: true });
  });
});

describe('install and remove', () => {
  test('an upgrade names the version before', async () => {
    await json(['create', 'crate', 'apple==1.0']);
    const { stdout } = await env(['install', 'crate', 'apple==2.0']);
    expect(stdout).toMatch(/^✓ apple 2\.0 \(was 1\.0\)\nInstalled 1 package into "crate" with uv .*\n$/);
    const again = await env(['install', 'crate', 'apple==2.0']);
    expect(again.stdout).toBe('✓ apple 2.0 (already installed)\nEverything is already in "crate".\n');
  });
  test('a dependency is told below what asked for it', async () => {
    await json(['create', 'bowl']);
    const { stdout } = await env(['install', 'bowl', 'banana']);
    expect(stdout).toMatch(/^✓ banana 1\.0\n {2}\+ apple 2\.0\nInstalled 2 packages into "bowl"/);
  });
  test('a removal names the version that went, and what went with it', async () => {
    await json(['create', 'plate', 'banana']);
    const { status, stdout } = await env(['remove', 'plate', 'banana']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^✓ banana 1\.0\n {2}- apple 2\.0\nRemoved 2 packages from "plate" with uv /);
    expect(await packagesOf('plate')).toEqual([]);
  });
  test('with --json are reports', async () => {
    await json(['create', 'tray']);
    const installed = PackageReport.parse(await json(['install', 'tray', 'cherry']));
    expect(installed).toMatchObject({
      venvName: 'tray',
      packages: [{ package: 'cherry', status: 'installed' }],
    });
    const removed = PackageReport.parse(await json(['remove', 'tray', 'cherry']));
    expect(removed).toMatchObject({ packages: [{ package: 'cherry', status: 'removed' }] });
  });
});

test('describe sets the description', async () => {
  await json(['create', 'named']);
  expect(await env(['describe', 'named', 'a new one'])).toMatchObject({ status: 0 });
  expect(await show('named')).toMatchObject({ description: 'a new one' });
  expect(EnvironmentInfo.parse(await json(['describe', 'named', '']))).toMatchObject({ description: '' });
});

test('clone makes one with the same packages', async () => {
  const { status, stdout } = await env(['clone', 'fruit', 'fruit2']);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'Cloned the environment "fruit" as "fruit2".\n' });
  expect(await packagesOf('fruit2')).toEqual(await packagesOf('fruit'));
  const cloned = EnvironmentInfo.parse(await json(['clone', 'fruit', 'fruit3', '-d', 'other']));
  expect(cloned).toMatchObject({ venvName: 'fruit3', description: 'other' });
});

describe('export and import', () => {
  test('carry an environment through a pipe', async () => {
    const exported = await env(['export', 'fruit']);
    expect(exported.stdout).toMatch(/\nbanana==1\.0 \\\n {4}--hash=sha256:[0-9a-f]{64}\n/);
    const imported = await env(['import', 'piped', '-'], { input: exported.stdout });
    expect(imported.stdout).toMatch(/^Created the environment "piped" with 2 packages and Python 3/);
    expect(await packagesOf('piped')).toEqual(await packagesOf('fruit'));
    expect(await show('piped')).toMatchObject({ description: 'for the kitchen', requested: ['banana'] });
  });
  test('carry it through a file, which is whole and not replaced without --force', async () => {
    const file = join(folder, 'fruit.lock');
    expect((await env(['export', 'fruit', '-o', file])).stdout).toBe(`Wrote ${file}.\n`);
    const lock = readFileSync(file, 'utf8');
    expect(lock).toContain('banana==1.0');
    writeFileSync(file, 'mine');
    const refused = await env(['export', 'fruit', '-o', file]);
    expect(refused).toEqual({
      status: 2,
      stdout: '',
      stderr: `pungi: ${file} exists already; --force replaces it.\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(await env(['export', 'fruit', '-o', file, '--force'])).toMatchObject({ status: 0 });
    expect(readFileSync(file, 'utf8')).toBe(lock);
    expect(readdirSync(folder)).toEqual(['fruit.lock']);
    expect(EnvironmentInfo.parse(await json(['import', 'filed', file, '-d', 'own']))).toMatchObject({
      packageCount: 2,
      description: 'own',
    });
  });
  test('with --json the lock file is part of the answer', async () => {
    expect(await json(['export', 'fruit'])).toEqual({
      venvName: 'fruit',
      file: null,
      lock: expect.stringContaining('banana==1.0'),
    });
  });
});

describe('clean', () => {
  test('tells what it would remove, removes it, and leaves the others', async () => {
    await json(['create', 'broken', 'apple']);
    writeFileSync(join(world.base, 'broken', 'pungi.json'), '{');
    expect((await env(['list'])).stdout).toMatch(/ broken +damaged: create it again, or delete it\n/);
    expect((await env(['show', 'broken'])).stdout).toContain('damaged: create it again, or delete it');
    const dry = await env(['clean', '--dry-run']);
    expect(dry.stdout).toMatch(/^ {2}broken {2}damaged, [^\n]*\nWould remove 1 environment, /);
    expect(existsSync(join(world.base, 'broken'))).toBe(true);
    const report = CleanReport.parse(await json(['clean']));
    expect(report).toMatchObject({ dryRun: false, removed: [{ venvName: 'broken', reason: 'damaged' }] });
    expect(existsSync(join(world.base, 'broken'))).toBe(false);
    expect((await env(['clean'])).stdout).toBe('There is no environment to clean up.\n');
    expect(await show('fruit')).toMatchObject({ state: 'ready' });
  });
  test('removes what was not used for so many days', async () => {
    const elsewhere = { env: { VENVS_BASE_PATH: join(world.base, 'own') } };
    await env(['create', 'idle'], elsewhere);
    const lastUse = join(world.base, 'own', 'idle', 'last-use');
    writeFileSync(lastUse, '');
    utimesSync(lastUse, new Date(0), new Date(0));
    expect((await env(['clean', '--unused-for', '0'], elsewhere)).status).toBe(2);
    expect(await env(['clean', '--unused-for', '30'], elsewhere)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('confirm it with --yes'),
    });
    const { stdout } = await env(['clean', '--unused-for', '30', '--yes'], elsewhere);
    expect(stdout).toMatch(
      /^ {2}idle {2}not used for \d+ days, [^\n]*\nRemoved 1 environment, .* freed\.\n$/,
    );
  });
});

describe('delete', () => {
  test('with --yes deletes', async () => {
    await json(['create', 'gone']);
    expect(await env(['delete', 'gone', '--yes'])).toMatchObject({
      status: 0,
      stdout: 'Deleted the environment "gone".\n',
    });
    expect((await env(['show', 'gone'])).status).toBe(66);
    await json(['create', 'gone']);
    expect(await json(['delete', 'gone', '--yes'])).toEqual({ deleted: 'gone' });
  });
  test('of the default one needs a second word', async () => {
    await json(['install', 'default', 'apple']);
    const once = await env(['delete', 'default', '--yes']);
    expect(once.status).toBe(2);
    expect(once.stderr).toContain('--yes-default');
    expect(await show('default')).toMatchObject({ requested: ['apple'] });
    expect((await env(['delete', 'default', '--yes', '--yes-default'])).status).toBe(0);
    expect(await show('default')).toMatchObject({ path: null });
  });
});
