import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sharedPungi, temporaryFolder } from '../../../core/tests/engine/pungi.js';
import { PythonEngine } from '../../src/validate/python-engine.js';

const folder = temporaryFolder();
const pungi = sharedPungi();

beforeEach(() => {
  vi.stubEnv('AUDIT_DIR', join(folder, 'trail'));
  vi.stubEnv('VENVS_BASE_PATH', folder);
});
afterEach(() => vi.unstubAllEnvs());

test('an engine alone starts what it needs, records nothing, and ends it', async () => {
  vi.stubEnv('DEFAULT_PROFILE', 'strategic');
  // Those who have to wait do so in the engine: Pungi has no room for them.
  vi.stubEnv('MAX_CONCURRENT_EXECUTIONS', '1');
  vi.stubEnv('MAX_QUEUED_EXECUTIONS', '0');
  const engine = new PythonEngine({ timeoutMs: 20_000, memoryLimitMb: 600, maxConcurrent: 1 });
  const context = { request: { method: 'tools/call' }, metadata: { test_name: 't', tool_name: 'add' } };
  const script = await engine.precompileScript(
    'def validate(context): return context["metadata"]',
    'validate',
  );
  expect(await engine.executePrecompiled(script, context)).toMatchObject({
    success: true,
    output: context.metadata,
  });
  const many = await Promise.all([1, 2, 3, 4].map((n) => engine.executeScript(`${n}`)));
  expect(many.map(({ output, error }) => error ?? output)).toEqual([1, 2, 3, 4]);
  const large = await engine.executeScript('len(bytearray(540_000_000))');
  expect(large).toMatchObject({ success: true, output: 540_000_000 });
  await engine.close();
  expect(existsSync(join(folder, 'trail'))).toBe(false);
  expect((await engine.executeScript('1')).error).toMatchObject({ kind: 'EngineError' });
});

test('a runner that was handed in is used, and stays open', async () => {
  const engine = await PythonEngine.create({}, pungi);
  await engine.close();
  expect(await engine.executeScript('1')).toMatchObject({ success: true, output: 1 });
});

test.each([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: 600_001 }, 'timeoutMs'],
  [{ memoryLimitMb: Number.NaN }, 'memoryLimitMb'],
  [{ maxConcurrent: 0 }, 'maxConcurrent'],
  [{ environment: '' }, 'environment'],
  [{ timeout: 5 }, 'timeout: is not known'],
])('a configuration that makes no sense is refused before anything is started: %j', (config, word) => {
  expect(() => new PythonEngine(config as object)).toThrow(
    expect.objectContaining({ name: 'ScriptError', message: expect.stringContaining(word) }),
  );
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
