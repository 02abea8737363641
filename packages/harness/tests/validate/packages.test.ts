import { expect, test } from 'vitest';
import { openWorld } from '../../../core/tests/environments/world.js';
import { PythonValidators } from '../../src/validate/python-validators.js';
import { ScriptEngine } from '../../src/validate/script-engine.js';

const world = await openWorld();
const pungi = world.start();
const engine = new ScriptEngine({}, pungi);
const script = (dependencies: string, code: string) =>
  `"""A check."""\n\n# /// script\n# dependencies = ${dependencies}\n# ///\n${code}`;

test('a script gets the packages that it names, outside of its time, and others do not', async () => {
  const checking = script('["apple==1.1"]', 'import apple\napple.__version__ == get("response")');
  // Making an environment takes longer than this.
  const short = new ScriptEngine({ timeoutMs: 400 }, pungi);
  const compiled = await short.precompileScript(checking);
  const right = await short.executePrecompiled(compiled, { response: '1.1' });
  expect(right).toMatchObject({ success: true, output: true, error: null });
  const asked = world.index.requests.length;
  expect(await short.executeScript(checking, { response: '2.0' })).toMatchObject({ output: false });
  expect(world.index.requests.length).toBe(asked);
  const other = await engine.executeScript('import apple');
  expect(other.error).toMatchObject({
    kind: 'ImportError',
    message: expect.stringContaining('"apple"'),
  });
});

test('what it prints is timed from its own begin', async () => {
  const { logs, durationMs } = await engine.executeScript(script('["banana"]', 'print("on")'));
  expect(logs).toMatchObject([{ level: 'stdout', message: 'on' }]);
  expect(logs[0]!.timeMs).toBeLessThanOrEqual(Math.ceil(durationMs));
});

test('a package that is not named is to be named', async () => {
  const { error } = await engine.executeScript(script('["apple==1.1"]', 'import banana'));
  expect(error).toMatchObject({ kind: 'ImportError', details: { module: 'banana' } });
  expect(error?.message).toBe(
    'The module "banana" (line 6) is not among the dependencies of the script; add its package to its "# /// script" block.',
  );
});

test.each([
  ['a package that nobody has', '["no-such-thing"]', /no-such-thing/],
  ['a block that is not TOML, by its line', '["apple', /not TOML, at line 4 of the script/],
  ['dependencies that are no list', '"apple"', /dependencies is not a list of texts/],
])('%s is told with the script', async (_, dependencies, sentence) => {
  const planned = {
    name: 'checks',
    language: 'python',
    execution_phase: 'after',
    required: true,
    source: script(dependencies, '1'),
  } as const;
  const { failures } = await new PythonValidators({}, pungi).run(planned, {});
  expect(failures).toMatchObject([{ kind: 'script', message: expect.stringMatching(sentence) }]);
  expect(failures[0]?.message).toMatch(/^The script "checks" failed: /);
});

test('in a named environment, a script that names packages of its own is refused', async () => {
  await pungi.environments.create({ venvName: 'named', packages: ['apple==1.0'] });
  const named = new ScriptEngine({ environment: 'named' }, pungi);
  const using = 'import apple\n{"version": apple.__version__}';
  expect((await named.executeScript(using)).output).toEqual({ version: '1.0' });
  const { output, error } = await named.executeScript(script('["apple==1.1"]', using));
  expect(output).toBeNull();
  expect(error?.message).toContain('# /// script');
});
