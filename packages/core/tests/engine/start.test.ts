import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Health, type PungiError } from '../../../pungi/src/index.js';
import { findInterpreter } from '../../src/sandbox/interpreter.js';
import { expectOk, listeningLogger, startPungi, temporaryFolder, verdictOf, withPungi } from './pungi.js';

const base = temporaryFolder();
const failure = (promise: Promise<unknown>): Promise<PungiError> =>
  promise.then(
    () => expect.unreachable('it worked'),
    (thrown: PungiError) => thrown,
  );

function program(name: string, script: string): string {
  const path = join(base, name);
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

describe('preloading', () => {
  test('a module of the standard library is there before the run', async () => {
    await withPungi({ PRELOAD_MODULES: 'sqlite3,decimal' }, async (pungi) => {
      const outcome = await pungi.run({
        code: 'import sys\nprint("sqlite3" in sys.modules, "csv" in sys.modules)',
      });
      expect(outcome.stdout.text).toBe('True False\n');
    });
  });

  test('a missing module is logged by name and harms nothing', async () => {
    const logger = listeningLogger();
    const pungi = startPungi({ PRELOAD_MODULES: 'no_such_module,decimal' }, logger);
    try {
      const outcome = await pungi.run({ code: 'import sys\nprint("decimal" in sys.modules)' });
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('True\n');
      expect(logger.entries).toContainEqual({
        level: 'error',
        message: expect.stringContaining('preload'),
        context: {
          notPreloaded: 'no_such_module',
          isAbsent: true,
          reason: expect.stringContaining('No module named'),
        },
      });
    } finally {
      await pungi.close();
    }
  });

  test.each(['json; import os', '../evil', 'os.path.nothing', 'antigravity_', "x'); print('"])(
    'a name that is no module, such as %j, is only that',
    async (name) => {
      await withPungi({ PRELOAD_MODULES: name }, async (pungi) =>
        expectOk(await pungi.run({ code: 'print(1)' })),
      );
    },
  );
});

describe('the interpreter', () => {
  test('that was named and is not there is said to be so, with what to do', async () => {
    const missing = join(base, 'python9');
    await withPungi({ PUNGI_PYTHON: missing }, async (pungi) => {
      const error = await failure(pungi.ready());
      expect(error.code).toBe('INTERPRETER_NOT_FOUND');
      expect(error.message).toContain(`${missing} (not found)`);
      expect(error.message).toContain('PUNGI_PYTHON');
      expect(verdictOf(await pungi.run({ code: 'print(1)' }), 'unavailable').message).toBe(error.message);
      const health = await pungi.health();
      expect(health).toMatchObject({ status: 'unhealthy', problem: error.message, interpreter: null });
      expect(Health.parse(health)).toEqual(health);
    });
  });

  test('of an old Python is refused with its version', async () => {
    const old = program('python-old', '#!/bin/sh\nprintf "/usr/bin/python3.8\\n3.8.10\\n"\n');
    expect((await failure(findInterpreter(old))).message).toContain(`${old} (Python 3.8.10, too old)`);
  });

  test('that is something else is refused', async () => {
    const other = program('python-other', '#!/bin/sh\necho hello\n');
    const broken = program('python-broken', '#!/bin/sh\nexit 1\n');
    const folder = join(base, 'python-folder');
    mkdirSync(folder);
    const plain = join(base, 'python-plain');
    writeFileSync(plain, 'text');
    for (const path of [other, broken, folder, plain]) {
      expect((await failure(findInterpreter(path))).code).toBe('INTERPRETER_NOT_FOUND');
    }
  });

  test('is found on PATH, behind old ones and broken ones', async () => {
    const folders = ['old', 'broken', 'good'].map((name) => join(base, name));
    for (const folder of folders) mkdirSync(folder);
    program('old/python3', '#!/bin/sh\nprintf "/usr/bin/python3.8\\n3.8.10\\n"\n');
    program('broken/python3', '#!/bin/sh\nexit 1\n');
    // Its answer is like no other interpreter's on this machine.
    program('good/python3', '#!/bin/sh\nprintf "/nowhere/python3.99\\n3.99.1\\n"\n');
    const env = { PATH: ['relative', ...folders].join(':') };
    expect(await findInterpreter(undefined, { env })).toEqual({
      path: '/nowhere/python3.99',
      version: '3.99.1',
    });
  });

  test('is the real one, not a shim in front of it', async () => {
    const good = await findInterpreter();
    const shim = program('python-shim', `#!/bin/sh\nexec '${good.path}' "$@"\n`);
    expect(await findInterpreter(shim)).toEqual(good);
  });

  test('without any on the machine, the sentence says what was looked at', async () => {
    const error = await failure(findInterpreter(join(base, 'nothing'), { env: {} }));
    expect(error.details['looked']).toEqual([`${join(base, 'nothing')} (not found)`]);
  });

  test('is not waited for once nobody wants it any more', async () => {
    const slow = program('python-slow', '#!/bin/sh\nexec sleep 1000\n');
    const stop = new AbortController();
    const search = findInterpreter(slow, { signal: stop.signal });
    stop.abort(new Error('not wanted any more'));
    await expect(search).rejects.toThrow('not wanted any more');
    const own = startPungi({ PUNGI_PYTHON: slow });
    const began = performance.now();
    await own.close();
    expect(performance.now() - began).toBeLessThan(5000);
  });
});

describe('health', () => {
  test('says starting, then healthy', async () => {
    await withPungi({}, async (pungi) => {
      expect((await pungi.health()).status).toBe('starting');
      await pungi.ready();
      const health = await pungi.health();
      expect(health.status).toBe('healthy');
      expect(Health.parse(health)).toEqual(health);
    });
  });
});

test('a run that is asked for at once is answered when everything is up', async () => {
  await withPungi({}, async (pungi) => {
    const outcome = await pungi.run({ code: 'print("early")' });
    expectOk(outcome);
    expect(outcome.usage.waitMs).toBeGreaterThan(0);
  });
});
