import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openWorld } from './environments.js';

const world = await openWorld();
const { env, json } = world;

beforeAll(async () => {
  await json(['create', 'there', 'apple==1.0']);
  await json(['create', 'damaged']);
  writeFileSync(join(world.base, 'damaged', 'pungi.json'), '{');
  writeFileSync(join(world.base, 'bad.lock'), 'apple\n');
});

describe('one sentence, nothing on standard output, and status', () => {
  test.each([
    [66, ['show', 'missing'], 'pungi env create missing'],
    [66, ['install', 'missing', 'apple'], 'There is no environment "missing"'],
    [66, ['delete', 'missing', '--yes'], 'missing'],
    [66, ['clone', 'missing', 'other'], 'missing'],
    [66, ['delete', 'default', '--yes'], 'nothing was installed into it'],
    [73, ['create', 'there'], 'exists already'],
    [73, ['create', 'THERE'], 'in case only'],
    [74, ['clone', 'damaged', 'other'], 'not whole'],
    [66, ['describe', 'missing', 'x'], 'missing'],
    [66, ['export', 'missing'], 'missing'],
    [73, ['import', 'there', '/dev/null'], 'exists already'],
    [66, ['clone', 'default', 'other'], 'nothing was installed into it'],
    [74, ['install', 'damaged', 'apple'], 'not whole'],
    [2, ['create', '../x'], 'cannot be the name'],
    [2, ['create', 'nul'], 'Windows'],
    [2, ['create', 'x', '--', '--index-url=x'], '--index-url'],
    [2, ['create', 'x', '--index-url=x'], 'see "pungi env create --help"'],
    [2, ['create', 'x', 'https://a/b.whl'], 'PACKAGE_SOURCES'],
    [2, ['create', 'x', '--python', '/usr/bin/python3'], 'paths and commands are not taken'],
    [69, ['create', 'x', '--python', '3.99'], '3.99'],
    [2, ['create'], 'name'],
    [2, ['install', 'there'], 'packages'],
    [2, ['remove', 'there', 'banana'], 'banana'],
    [2, ['remove', 'there', 'apple==1.0'], 'without versions'],
    [2, ['delete', 'there'], '--yes'],
    [2, ['import', 'x', 'missing.lock'], 'missing.lock'],
    [2, ['import', 'x', join(world.base, 'bad.lock')], 'not a lock file'],
    [2, ['export', 'there', '-o', '/nowhere/x.lock'], 'its folder does not exist'],
    [2, ['export', 'there', '-o', '/dev/null', '--force'], 'not a regular file'],
    [2, ['clean', '--unused-for', 'long'], 'days'],
    [2, ['flute'], 'flute'],
    [69, ['create', 'x', 'apple', '--uv', '/nowhere/uv'], '/nowhere/uv'],
    [77, ['create', 'x', '--max-environments', '2'], 'MAX_ENVIRONMENTS'],
    [76, ['create', 'x', 'native-free', '--max-environment-mb', '5'], 'MAX_ENVIRONMENT_MB'],
  ])('%i for pungi env %j', async (expected, args, words) => {
    const { status, stdout, stderr } = await env([...args]);
    expect({ status, stdout, stderr }).toEqual({
      status: expected,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
    expect(stderr).toMatch(/(^|\n)pungi: [^\n]+\n$/);
    expect(world.leftovers()).toEqual([]);
  });
});

test('a package that cannot be had: each by itself, with the resolver’s words, and nothing is changed', async () => {
  const { status, stdout, stderr } = await env(['install', 'there', 'banana', 'nosuchpackage', '--quiet']);
  expect({ status, stdout }).toEqual({ status: 76, stdout: '' });
  expect(stderr).toMatch(
    /^· banana \(could be installed on its own\)\n✗ nosuchpackage\n {4}\S[\s\S]*nosuchpackage was not found/,
  );
  expect(stderr).toMatch(/\npungi: [^\n]*nosuchpackage could not be [^\n]*\n$/);
  const { requested, packageCount } = (await json(['show', 'there'])) as Record<string, unknown>;
  expect({ requested, packageCount }).toEqual({ requested: ['apple==1.0'], packageCount: 1 });
});

test('packages that exclude each other: the explanation once, below all of them', async () => {
  const { status, stderr } = await env(['create', 'x', 'cherry', 'clash', '--quiet']);
  expect(status).toBe(76);
  expect(stderr).toMatch(/^✗ cherry\n✗ clash\n {4}[\s\S]*apple[\s\S]*\npungi: /);
  expect((await env(['show', 'x'])).status).toBe(66);
});

test('a removal that something needs says what needs it', async () => {
  await json(['create', 'needy', 'banana']);
  const { status, stderr } = await env(['remove', 'needy', 'apple', '--quiet']);
  expect(status).toBe(76);
  expect(stderr).toContain('banana');
});

test('with --json a refusal is JSON on standard output, with the same status and nothing else', async () => {
  const { status, stdout, stderr } = await env(['install', 'there', 'nosuchpackage', '--json']);
  expect({ status, stderr }).toEqual({ status: 76, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    error: {
      code: 'PACKAGE_INSTALLATION_ERROR',
      details: {
        packages: [{ package: 'nosuchpackage', status: 'failed', why: expect.stringContaining('nosuch') }],
      },
    },
  });
});

describe('an environment in use', () => {
  test('is not deleted, with status 75, unless one waits', async () => {
    await json(['create', 'busy']);
    const code = 'import time; print("in use", flush=True); time.sleep(600)';
    const sleeper = world.start(['run', '--env', 'busy', '--timeout', '600000', '--stdin', '', '-c', code]);
    await sleeper.shows('stdout', 'in use');
    const refused = await env(['delete', 'busy', '--yes']);
    expect(refused).toMatchObject({ status: 75, stderr: expect.stringContaining('busy') });
    const waiting = world.start(['env', 'delete', 'busy', '--yes', '--wait']);
    await waiting.shows('stderr', 'Waiting until the environment "busy" is not in use.');
    sleeper.child.kill('SIGINT');
    expect((await sleeper.ended).status).toBe(130);
    expect((await waiting.ended).status).toBe(0);
  });
});

test.each(['twin', 'TWIN'])('an environment is not cloned onto itself, as %s', async (to) => {
  if (to === 'twin') await json(['create', 'twin']);
  expect(await env(['clone', 'twin', to])).toMatchObject({ status: 73 });
});
