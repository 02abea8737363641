import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PythonEngine } from '../../../src/pungi/python-engine.js';
import { sharedPungi, temporaryFolder } from '../../engine/pungi.js';

const folder = temporaryFolder();
const pungi = sharedPungi();

beforeEach(() => {
  vi.stubEnv('AUDIT', 'false');
  vi.stubEnv('VENVS_BASE_PATH', folder);
});
afterEach(() => vi.unstubAllEnvs());

test('an engine alone starts what it needs, and ends it', async () => {
  const engine = new PythonEngine({ timeoutMs: 20_000, memoryLimitMb: 600 });
  const context = { request: { method: 'tools/call' }, metadata: { test_name: 't', tool_name: 'add' } };
  const script = await engine.precompileScript(
    'def validate(context): return context["metadata"]',
    'validate',
  );
  expect(await engine.executePrecompiled(script, context)).toMatchObject({
    success: true,
    output: context.metadata,
  });
  const large = await engine.executeScript('len(bytearray(540_000_000))');
  expect(large).toMatchObject({ success: true, output: 540_000_000 });
  await engine.close();
  expect((await engine.executeScript('1')).error).toMatchObject({ kind: 'EngineError' });
});

test('a runner that was handed in is used, and stays open', async () => {
  const engine = await PythonEngine.create({}, pungi);
  await engine.close();
  expect(await engine.executeScript('1')).toMatchObject({ success: true, output: 1 });
});

test('an interpreter that is not there: where it was looked for', async () => {
  const python = `${folder}/no-python`;
  const error = {
    name: 'ScriptError',
    kind: 'InterpreterNotFound',
    message: expect.stringContaining(python),
  };
  const thrown = await PythonEngine.create({ python }).catch((one) => one);
  expect(thrown).toMatchObject({ ...error, details: { looked: [`${python} (not found)`] } });
  const engine = new PythonEngine({ python });
  expect((await engine.executeScript('1')).error).toMatchObject(error);
  await expect(engine.precompileScript('1')).rejects.toMatchObject(error);
  await engine.close();
  expect(JSON.parse(JSON.stringify(thrown))).toMatchObject({ kind: 'InterpreterNotFound' });
});
