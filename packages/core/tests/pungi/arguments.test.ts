import { describe, expect, test } from 'vitest';
import { Pungi, PungiError } from '../../../pungi/src/index.js';
import { sharedPungi } from '../engine/pungi.js';

const pungi = sharedPungi();
const { environments } = pungi;

type Method = (value: never) => unknown;

/** What is neither an object nor a text nor a list of texts, as a program without types may pass it. */
const WRONG = [null, 42, true, Number.NaN, Symbol('s'), () => 1, [1]];
const CODE = { code: '1' };

/** Every public method that takes an argument, and the name of that argument in the message. */
const METHODS: [name: string, argument: string, call: Method, also?: unknown[]][] = [
  ['run', 'request', (value) => pungi.run(value)],
  ['run', 'options', (value) => pungi.run(CODE, value)],
  ['run', 'options.signal', (value) => pungi.run(CODE, { signal: value })],
  ['run', 'context', (value) => pungi.run({ ...CODE, argv: value }), ['x', {}]],
  ['probe', 'request', (value) => pungi.probe(value), [undefined]],
  ['examine', 'request', (value) => pungi.examine(value), [undefined]],
  ['discover', 'request', (value) => pungi.discover(value), [undefined, 'x']],
  ['replay', 'entry', (value) => pungi.replay(value), [undefined, 'x', {}]],
  ['precompile', 'code', (value) => pungi.precompile(value), [undefined, {}]],
  ['precompile', 'filename', (value) => pungi.precompile('1', value), [{}, 'a/b.py']],
  ['runCompiled', 'script', (value) => pungi.runCompiled(value), [undefined, 'x', {}]],
  ['packages', 'venvName', (value) => pungi.packages(value), [{}]],
  ['analyze', 'code', (value) => pungi.analyze(value), [undefined, 'x', {}]],
  ['health', 'venvName', (value) => pungi.health(value), [{}]],
  ['environments.resolve', 'venvName', (value) => environments.resolve(value), [{}]],
  ['environments.show', 'venvName', (value) => environments.show(value), [{}]],
  ['environments.metadata', 'venvName', (value) => environments.metadata(value), [{}]],
  ['environments.export', 'venvName', (value) => environments.export(value), [{}]],
  ['environments.create', 'request', (value) => environments.create(value), [undefined, 'x']],
  ['environments.create', 'venvName', (value) => environments.create({ venvName: value }), [undefined, {}]],
  ['environments.install', 'packages', (value) => environments.install('x', value), [undefined, 'x', {}]],
  ['environments.install', 'venvName', (value) => environments.install(value, ['x']), [{}]],
  ['environments.uninstall', 'packages', (value) => environments.uninstall('x', value), [undefined, 'x']],
  ['environments.delete', 'request', (value) => environments.delete(value), [undefined, 'x']],
  ['environments.clone', 'request', (value) => environments.clone(value), [undefined, 'x']],
  ['environments.import', 'request', (value) => environments.import(value), [undefined, 'x']],
  [
    'environments.import',
    'lock',
    (value) => environments.import({ venvName: 'x', lock: value }),
    [undefined, {}],
  ],
  ['environments.clean', 'request', (value) => environments.clean(value), ['x']],
  ['environments.setDescription', 'venvName', (value) => environments.setDescription(value, ''), [undefined]],
  ['environments.setDescription', 'description', (value) => environments.setDescription('x', value), [{}]],
  ['environments.provideLocked', 'lock', (value) => environments.provideLocked(value), [undefined, {}]],
  ['environments.provideInline', 'wanted', (value) => environments.provideInline(value), [undefined, 'x']],
  ['environments.normalise', 'packages', (value) => environments.normalise(value), [undefined, 'x', {}]],
];

/** The code and the sentence, whether it is a verdict or was thrown. */
async function refusalOf(call: Method, value: unknown): Promise<{ code: string; message: string }> {
  try {
    const { verdict } = (await call(value as never)) as { verdict: { code: string; message: string } };
    return verdict;
  } catch (error) {
    expect(error).toBeInstanceOf(PungiError);
    return error as PungiError;
  }
}

describe.each(METHODS)('%s (%s)', (_, __, call, also = []) => {
  test.each([...WRONG, ...also].map((value) => [value]))('%s is INVALID_INPUT', async (value) => {
    const { code, message } = await refusalOf(call, value);
    expect({ code, message }).toEqual({ code: 'INVALID_INPUT', message: expect.stringMatching(/\.$/) });
    expect(message).not.toMatch(/Cannot|undefined \(|must be of type|Received/);
  });
});

test('the message names the argument, what was expected and what was passed', async () => {
  const messageOf = async (call: Method, value: unknown) => (await refusalOf(call, value)).message;
  expect(await messageOf((value) => environments.create(value), undefined)).toBe(
    'Invalid arguments: request: expected an object, got undefined.',
  );
  expect(await messageOf((value) => environments.create({ venvName: value }), undefined)).toBe(
    'Invalid arguments: venvName: expected a name of 1 to 64 letters (A-Z, a-z), digits, "_" and "-", got undefined.',
  );
  expect(await messageOf((value) => pungi.run(CODE, { signal: value }), 'stop')).toBe(
    'Invalid arguments: options.signal: expected an AbortSignal, got a text.',
  );
});

test('a compiled script whose code was changed is refused, and so is a made-up one', async () => {
  const script = await pungi.precompile('print("compiled")');
  for (const altered of [
    { ...script, code: 'print("other")' },
    { ...script, sha256: '0'.repeat(64) },
  ]) {
    const { verdict, stdout } = await pungi.runCompiled(altered);
    expect(verdict).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('changed') });
    expect(stdout.text).toBe('');
  }
  expect((await pungi.runCompiled(script)).stdout.text).toBe('compiled\n');
});

test.each([
  [Number.NaN],
  [Number.POSITIVE_INFINITY],
  [{ a: [1, { b: Number.NaN }] }],
  [[null, Number.NEGATIVE_INFINITY]],
  [JSON.parse('[1e999]')],
])('a context with a number that JSON does not have is refused: %o', async (context) => {
  const { verdict } = await pungi.run({ code: 'print(context)', context });
  expect(verdict).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('NaN') });
});

test('null, text that looks like NaN and large numbers of a context arrive as they are', async () => {
  const context = { a: null, b: 'NaN null', c: 1e300, d: [-0.5] };
  const { stdout } = await pungi.run({ code: 'print(context)', context });
  expect(stdout.text).toBe("{'a': None, 'b': 'NaN null', 'c': 1e+300, 'd': [-0.5]}\n");
});

test.each([
  [42, 'the configuration: expected an object, got 42'],
  [{ maxMemoryMb: 1 }, 'maxMemoryMb is 1: must be at least 16'],
  [{ memory: 64 }, 'unknown setting memory'],
])('a configuration %o is CONFIGURATION_ERROR', (config, sentence) => {
  expect(() => Pungi.start(config as never)).toThrow(
    expect.objectContaining({ code: 'CONFIGURATION_ERROR', message: expect.stringContaining(sentence) }),
  );
});
