import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectOk, printed, temporaryFolder, verdictOf } from '../engine/pungi.js';
import { openWorld } from './world.js';

const world = await openWorld();
const pungi = world.start();
const script = (dependencies: string[], code: string, more = '') =>
  `# /// script\n# dependencies = ${JSON.stringify(dependencies)}\n${more}# ///\n${code}`;
const VERSION = 'import apple; print(apple.__version__)';

describe('inline dependencies', () => {
  test('are there for exactly that script', async () => {
    expect(await printed(pungi, { code: script(['apple<2'], VERSION) })).toBe('1.1\n');
    expect(await printed(pungi, { code: script(['apple==1.0'], VERSION) })).toBe('1.0\n');
    expect((await pungi.run({ code: VERSION })).verdict.kind).toBe('python-error');
  });

  test('are installed once, outside of the run’s time', async () => {
    const code = script(['durian'], VERSION);
    const first = await pungi.run({ code, limits: { timeoutMs: 2000 } });
    expectOk(first);
    expect(first.usage.installMs).toBeGreaterThan(0);
    expect(first.environment).toMatch(/^inline-[0-9a-f]{20}$/);
    const asked = world.index.requests.length;
    const second = await pungi.run({ code });
    expect(second.environment).toBe(first.environment);
    expect(world.index.requests.length).toBe(asked);
    const other = await world.start().run({ code });
    expect(other.environment).toBe(first.environment);
    expect(world.index.requests.length).toBe(asked);
  });

  test('that come to the same share an environment', async () => {
    const one = await pungi.run({ code: script(['apple>=2'], VERSION) });
    const other = await pungi.run({ code: script(['apple==2.0'], VERSION) });
    expect(other.environment).toBe(one.environment);
  });

  test('asked for by many at once are made once', async () => {
    const code = script(['extras-pkg[fruit]'], 'import banana; print("ok")');
    const outcomes = await Promise.all(Array.from({ length: 4 }, () => pungi.run({ code })));
    for (const outcome of outcomes) expectOk(outcome);
    expect(new Set(outcomes.map(({ environment }) => environment)).size).toBe(1);
  });

  test('beside a named environment are refused: one of the two would not be what was asked for', async () => {
    await pungi.environments.create({ venvName: 'named', packages: ['apple==1.1'] });
    const request = { code: script(['apple==1.0'], VERSION), venvName: 'named' };
    const verdict = verdictOf(await pungi.run(request), 'invalid');
    expect(verdict.message).toMatch(
      /"# \/\/\/ script" block.* names the environment "named": leave out one of them/,
    );
  });

  test('that cannot be had are a verdict that says why', async () => {
    const verdict = verdictOf(await pungi.run({ code: script(['no-such-thing'], '1') }), 'no-environment');
    expect(verdict.code).toBe('PACKAGE_INSTALLATION_ERROR');
  });

  test.each([
    ['an option', ['--index-url=http://127.0.0.1']],
    ['a path', ['./here']],
    ['an address', ['https://127.0.0.1/x.whl']],
    ['shell text', ['apple; rm -rf /']],
  ])('%s is refused', async (_, dependencies) => {
    expect(verdictOf(await pungi.run({ code: script(dependencies, '1') }), 'invalid').code).toBe(
      'INVALID_INPUT',
    );
  });

  test('a block that is not TOML is refused', async () => {
    expect(
      verdictOf(await pungi.run({ code: '# /// script\n# dependencies = [\n# ///\n' }), 'invalid'),
    ).toBeTruthy();
  });

  test('requires-python chooses the interpreter, or says which there are', async () => {
    const impossible = script([], '1', '# requires-python = ">=3.99"\n');
    const { verdict } = await pungi.run({ code: impossible });
    expect(verdict).toMatchObject({ message: expect.stringContaining('3.99') });
    const any = script(
      [],
      'import sys; print(sys.version_info >= (3, 10))',
      '# requires-python = ">=3.10"\n',
    );
    expect(await printed(pungi, { code: any })).toBe('True\n');
  });

  test('are listed as what they are, and make room when there are too many', async () => {
    const few = world.start({ MAX_ENVIRONMENTS: '2', VENVS_BASE_PATH: `${world.base}-few` });
    for (const version of ['1.0', '1.1', '2.0']) {
      expect(await printed(few, { code: script([`apple==${version}`], VERSION) })).toBe(`${version}\n`);
    }
    const made = (await few.environments.list()).filter(({ isInline }) => isInline);
    expect(made.map(({ requested }) => requested)).toEqual(expect.arrayContaining([['apple==2.0']]));
    expect(made).toHaveLength(2);
  });
});

describe('the packages of a profile', () => {
  const file = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(file, 'profiles:\n  fruity:\n    packages: [apple==1.0]\n');
  const own = world.start({ PROFILES_FILE: file, ALLOWED_PROFILES: '*' });

  test('are there for its runs, in the environment that a script with them has', async () => {
    const outcome = await own.run({ code: VERSION, profile: 'fruity' });
    expectOk(outcome);
    expect(outcome.stdout.text).toBe('1.0\n');
    const same = await own.run({ code: script(['apple==1.0'], VERSION) });
    expect(same.environment).toBe(outcome.environment);
    expect((await own.run({ code: VERSION })).verdict.kind).toBe('python-error');
  });

  test('count, whatever the code says of itself', async () => {
    expect(await printed(own, { code: script(['apple==2.0'], VERSION), profile: 'fruity' })).toBe('1.0\n');
  });
});
