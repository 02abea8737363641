import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { publicInterpreter } from '../../../tests/support/places.js';
import { openWorld } from './environments.js';

const world = await openWorld();

async function doctor(env: Record<string, string> = {}) {
  const { status, stdout } = await world.run(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: { name: string }[] };
  return { status, row: (name: string) => findings.find((finding) => finding.name === name) };
}

test('names the tool that installs packages, with its version and where it is from', async () => {
  const { status, row } = await doctor();
  expect(status).toBe(0);
  expect(row('Packages')).toEqual({
    name: 'Packages',
    state: 'ok',
    found: expect.stringMatching(/^installed with uv \d+\.\d+\.\d+ at \/.*, as configured \(PUNGI_UV\)$/),
  });
});

test('says that uv will be fetched, and not where it is before it is there', async () => {
  const { status, row } = await doctor({
    PUNGI_UV: '',
    PATH: '/nowhere',
    PUNGI_PYTHON: await publicInterpreter(),
  });
  expect(status).toBe(0);
  expect(row('Packages')).toEqual({
    name: 'Packages',
    state: 'ok',
    found: expect.stringMatching(/^uv [\d.]+ will be fetched once, when packages are first needed\.$/),
  });
});

test('a uv that cannot be used is a warning, and runs work all the same', async () => {
  const { status, row } = await doctor({ PUNGI_UV: '/nowhere/uv' });
  expect(status).toBe(0);
  expect(row('Packages')).toMatchObject({ state: 'warn', found: expect.stringContaining('/nowhere/uv') });
});

test('counts the environments, and names the folder and the space that is left', async () => {
  await world.json(['create', 'one']);
  const { row } = await doctor();
  const found = expect.stringMatching(new RegExp(`^1 environment in ${world.base}, [\\d.]+ [GM]B free`));
  expect(row('Environments')).toMatchObject({ found });
});

test('a damaged environment is a warning that says what to do', async () => {
  await world.json(['create', 'torn']);
  expect((await doctor()).row('Damaged')).toBeUndefined();
  writeFileSync(join(world.base, 'torn', 'pungi.json'), '{');
  const { status, row } = await doctor();
  expect(status).toBe(0);
  expect(row('Damaged')).toMatchObject({
    state: 'warn',
    found: 'torn',
    todo: expect.stringContaining('pungi env clean'),
  });
  await world.env(['clean']);
});

test('a folder that others can change is a warning', async () => {
  const open = join(world.base, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const { row } = await doctor({ VENVS_BASE_PATH: open });
  expect(row('Environments')).toMatchObject({
    state: 'warn',
    todo: expect.stringContaining('VENVS_BASE_PATH'),
  });
});

test.skipIf(process.getuid?.() === 0)('a folder that cannot be written is a warning', async () => {
  const closed = join(world.base, 'closed');
  mkdirSync(closed, { mode: 0o555 });
  const { row } = await doctor({ VENVS_BASE_PATH: join(closed, 'x') });
  expect(row('Environments')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('not writable'),
  });
});

test('packages to preinstall are told as there or not yet, and the doctor does not install them', async () => {
  const settings = { PREINSTALLED_PACKAGES: 'apple banana' };
  const untouched = join(world.base, 'untouched');
  const before = await doctor({ ...settings, VENVS_BASE_PATH: untouched });
  expect(existsSync(join(untouched, 'default'))).toBe(false);
  expect(before.row('Preinstalled')).toMatchObject({
    state: 'warn',
    found: expect.stringContaining('apple, banana'),
  });
  await world.json(['install', 'default', 'apple', 'banana']);
  expect((await doctor(settings)).row('Preinstalled')).toMatchObject({ state: 'ok' });
  expect((await doctor({ PREINSTALLED_PACKAGES: '-r' })).row('Preinstalled')).toMatchObject({
    state: 'warn',
  });
  expect((await doctor()).row('Preinstalled')).toBeUndefined();
});
