import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Config, DEFAULT_LIMITS, type PungiError } from '../../../pungi/src/index.js';
import { loadConfig } from '../../src/config/load.js';
import type { Limits } from '../../src/contract/limits.js';
import { Gate } from '../../src/gate/gate.js';
import { limitsOf, tighten } from '../../src/gate/limits.js';
import { loadProfiles } from '../../src/gate/profiles/load-profiles.js';

const config = loadConfig({ env: { ALLOWED_ENV: 'LANG_CODE' } });
const admit = (raw: unknown, settings: Config) => new Gate(settings, loadProfiles(settings)).admit(raw);
const names = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[];
const amount = fc.integer({ min: 1, max: 10 ** 9 });
const limits = fc.record(Object.fromEntries(names.map((name) => [name, amount]))) as fc.Arbitrary<Limits>;
const wanted = fc.record(Object.fromEntries(names.map((name) => [name, amount])), {
  requiredKeys: [],
}) as fc.Arbitrary<Partial<Limits>>;

describe('limits', () => {
  test('a request only ever goes below the ceiling', () => {
    fc.assert(
      fc.property(limits, wanted, (ceiling, asked) => {
        const result = tighten(ceiling, asked);
        for (const name of names) {
          expect(result[name]).toBe(
            asked[name] === undefined ? ceiling[name] : Math.min(ceiling[name], asked[name]!),
          );
        }
        expect(Object.keys(result).sort()).toEqual([...names].sort());
      }),
    );
  });

  test('without any wish, and without any setting, are the defaults', async () => {
    expect(tighten(DEFAULT_LIMITS)).toEqual(DEFAULT_LIMITS);
    expect(limitsOf(loadConfig({ env: {} }))).toEqual(DEFAULT_LIMITS);
    expect((await admit({ code: '1' }, config)).job.limits).toEqual(DEFAULT_LIMITS);
  });

  test('every setting of the server reaches the run', () => {
    const env = {
      EXECUTION_TIMEOUT_MS: '1001',
      MAX_CPU_MS: '1002',
      MAX_MEMORY_MB: '1003',
      MAX_PROCESSES: '1004',
      MAX_OPEN_FILES: '1005',
      MAX_DISK_MB: '1006',
      MAX_OUTPUT_BYTES: '1047',
      MAX_OUTPUT_HARD_BYTES: '1048',
    };
    expect(Object.values(limitsOf(loadConfig({ env })))).toEqual([
      1001, 1002, 1003, 1004, 1005, 1006, 1047, 1048,
    ]);
  });
});

describe('a request', () => {
  test('is let through as a job', async () => {
    const request = {
      code: 'print(1)',
      argv: ['a'],
      inputData: ['one', 'two'],
      files: [{ path: 'a.txt', text: 'ż' }],
      env: { LANG_CODE: 'pl' },
      context: null,
    };
    expect(await admit(request, config)).toEqual({
      profile: loadProfiles(config).get('default'),
      venvName: undefined,
      isVenvAsked: false,
      notes: [],
      packages: [],
      capability: null,
      cacheSeconds: 0,
      isFresh: false,
      data: [],
      dataFingerprint: [],
      job: {
        code: 'print(1)',
        filename: 'main.py',
        argv: ['a'],
        stdin: 'one\ntwo\n',
        files: [{ path: 'a.txt', base64: Buffer.from('ż').toString('base64') }],
        env: { LANG_CODE: 'pl' },
        limits: DEFAULT_LIMITS,
        variables: { context: null },
      },
    });
  });

  test('without a context is not given one', async () => {
    expect((await admit({ code: '1' }, config)).job.variables).toEqual({});
  });

  test.each<[string, unknown]>([
    ['nothing at all', undefined],
    ['null', null],
    ['a text', 'print(1)'],
    ['a list', [{ code: '1' }]],
  ])('that is %s is invalid', async (_, raw) => {
    const error: PungiError = await admit(raw, config).then(
      () => expect.unreachable('it was let through'),
      (thrown: PungiError) => thrown,
    );
    expect(error.code).toBe('INVALID_INPUT');
    expect(error.details['issues']).not.toHaveLength(0);
  });

  test('can name no file anywhere but below its work folder', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom('a', '.', '/', '\\', '\0', '~') }), async (path) => {
        const answer = await admit({ code: '1', files: [{ path, text: '' }] }, config).catch(() => undefined);
        if (answer === undefined) return;
        const [file] = answer.job.files;
        const resolved = new URL(file!.path.replaceAll('~', 'x'), 'file:///box/work/').pathname;
        expect(resolved).toMatch(/^\/box\/work\/[^/]/);
        expect(path).not.toMatch(/[\\\0]|\/\/|\/$/);
      }),
    );
  });

  test('a variable that is not on the list is denied, and the list is named', async () => {
    await expect(admit({ code: '1', env: { PATH: '/x' } }, config)).rejects.toMatchObject({
      code: 'DENIED',
      message: expect.stringMatching(/PATH.*LANG_CODE/),
    });
    await expect(admit({ code: '1', env: { PATH: '/x' } }, loadConfig({ env: {} }))).rejects.toMatchObject({
      code: 'DENIED',
      message: expect.stringContaining('none'),
    });
  });

  test('that carries more than the run may write is invalid, and just as much is not', async () => {
    const room = 1024 * 1024;
    const carrying = (bytes: number, how: 'files' | 'stdin' | 'inputData') => {
      const text = 'x'.repeat(bytes);
      const what = { files: [{ path: 'a', text }], stdin: text, inputData: [text] }[how];
      return admit({ code: '1', [how]: what, limits: { diskMb: 1 } }, config);
    };
    for (const how of ['files', 'stdin', 'inputData'] as const) {
      await expect(carrying(room - 2, how)).resolves.toBeDefined();
      await expect(carrying(room + 1, how)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('1 MB'),
      });
    }
  });

  test('with files that lie below each other or in the same place is invalid', async () => {
    const admitted = (...paths: string[]) =>
      admit({ code: '1', files: paths.map((path) => ({ path, text: '' })) }, config).then(
        () => 'let through',
        ({ code, message }: PungiError) => `${code}: ${message}`,
      );
    for (const paths of [
      ['a', 'a/b'],
      ['a/b/c/d', 'x', 'a/b'],
    ]) {
      expect(await admitted(...paths)).toMatch(/^INVALID_INPUT: .*lies below another file/);
    }
    expect(await admitted('a/b', 'c', 'a/b')).toMatch(/^INVALID_INPUT: .*same path/);
    expect(await admitted('a', 'ab/c', 'a.b', 'b/a')).toBe('let through');
  });

  test('may name its code', async () => {
    expect((await admit({ code: '1', filename: 'report.py' }, config)).job.filename).toBe('report.py');
    for (const filename of ['', '.', '..', 'a/b.py', 'a\\b.py', 'a\0', 'x'.repeat(256), 'ż'.repeat(128)]) {
      await expect(admit({ code: '1', filename }, config)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  test('a file named main.py is a module: the script without a name is then called __main__.py', async () => {
    const files = [{ path: 'main.py', text: 'x = 1' }];
    expect((await admit({ code: 'import main', files }, config)).job.filename).toBe('__main__.py');
  });

  test('a file in the place of a named script is refused, unless it is that script', async () => {
    const admitted = (path: string, text: string) =>
      admit({ code: 'x = 1', filename: 'own.py', files: [{ path, text }] }, config).then(
        () => 'let through',
        (error) => `${error.code}: ${error.message}`,
      );
    expect(await admitted('own.py', 'x = 2')).toMatch(
      /^INVALID_INPUT: The file "own.py" conflicts with the script/,
    );
    expect(await admitted('own.py/inner', 'x = 1')).toMatch(
      /^INVALID_INPUT: The file "own.py\/inner" conflicts/,
    );
    expect(await admitted('own.py', 'x = 1')).toBe('let through');
    expect(await admitted('own', 'x = 2')).toBe('let through');
  });

  test('a script file keeps its own name', async () => {
    const own = loadConfig({ env: { SCRIPT_ROOTS: import.meta.dirname } });
    const { job } = await admit({ file: 'fixtures/hello.py' }, own);
    expect(job).toMatchObject({ filename: 'hello.py', code: 'print("hello")\n' });
  });
});
