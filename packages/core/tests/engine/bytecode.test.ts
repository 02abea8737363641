import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import type { CompiledScript, Pungi, PungiError } from '../../../pungi/src/index.js';
import { sha256 } from '../../src/base/sha256.js';
import { BytecodeCache } from '../../src/engine/bytecode-cache.js';
import { expectOk, sharedPungi, startPungi, temporaryFolder, verdictOf, withPungi } from './pungi.js';

const base = temporaryFolder();
let serial = 0;
function newFolder(): string {
  serial += 1;
  return join(base, `cache-${serial}`);
}
const filesIn = (folder: string) => readdirSync(folder).map((name) => join(folder, name));

const folder = newFolder();
const pungi = sharedPungi({ PUNGI_CACHE_DIR: folder });

describe('a precompiled script', () => {
  test('runs as its source would: value, argv, context, stdin, name', async () => {
    const script = await pungi.precompile('import sys\nprint(__name__, sys.argv, context, input())\n6 * 7');
    expect(script).toMatchObject({ filename: 'main.py', sha256: sha256(script.code) });
    for (const context of [1, 2]) {
      const outcome = await pungi.runCompiled(script, { argv: ['a'], context, inputData: ['line'] });
      expectOk(outcome);
      expect(outcome.stdout.text).toBe(`__main__ ['main.py', 'a'] ${context} line\n`);
      expect(outcome.value?.json).toBe(42);
      expect(outcome.codeSha256).toBe(script.sha256);
    }
  });

  test('is not compiled again: what runs is the cached bytecode', async () => {
    const own = newFolder();
    const code = 'print("from the source")';
    const other = await withPungi({ PUNGI_CACHE_DIR: own }, async (first) => {
      await first.precompile('print("from the cache")');
      await first.precompile(code);
      return (await first.state()).bytecodeTag;
    });
    // The file of one script gets the content of the other one, checksum and all.
    const cache = new BytecodeCache(own);
    const key = (text: string) => ({ sourceSha256: sha256(text), filename: 'main.py', interpreter: other });
    cache.set(key(code), cache.get(key('print("from the cache")'))!);
    await withPungi({ PUNGI_CACHE_DIR: own }, async (second) => {
      const outcome = await second.runCompiled(await second.precompile(code));
      expect(outcome.stdout.text).toBe('from the cache\n');
    });
  });

  test('has the right lines in its traceback', async () => {
    const script = await pungi.precompile('x = 1\n\nraise ValueError("from line three")', 'job.py');
    const { exception } = verdictOf(await pungi.runCompiled(script), 'python-error');
    expect(exception).toMatchObject({ line: 3, text: 'raise ValueError("from line three")' });
    expect(exception.traceback).toContain('File "job.py", line 3');
  });

  test('is held to limits like any other', async () => {
    const script = await pungi.precompile('import threading\nthreading.Event().wait()');
    expect(
      verdictOf(await pungi.runCompiled(script, { limits: { timeoutMs: 200 } }), 'timed-out').limitMs,
    ).toBe(200);
  });

  test('passes the gate like any other', async () => {
    const script = await pungi.precompile('print(1)');
    verdictOf(await pungi.runCompiled(script, { env: { LD_PRELOAD: 'x' } }), 'denied');
    verdictOf(await pungi.runCompiled(script, { argv: 7 } as never), 'invalid');
  });

  test('that does not compile throws with the exception in its details', async () => {
    const error: PungiError = await pungi.precompile('x = (1 +\n', 'broken.py').then(
      () => expect.unreachable('it compiled'),
      (thrown: PungiError) => thrown,
    );
    expect(error.code).toBe('PYTHON_ERROR');
    expect(error.message).toMatch(/^SyntaxError: /);
    expect(error.details['exception']).toMatchObject({ type: 'SyntaxError', line: 1, text: 'x = (1 +' });
  });

  test('that does not compile, run without asking first, is a python-error', async () => {
    const code = 'x = = 1';
    const outcome = await pungi.runCompiled({ code, filename: 'main.py', sha256: sha256(code) });
    expect(verdictOf(outcome, 'python-error').exception.type).toBe('SyntaxError');
  });

  test('whose hash is not that of its code is refused, and nothing of it runs', async () => {
    const honest = await pungi.precompile('print("honest")');
    const forged: CompiledScript = { ...honest, code: 'print("shown to the reader")' };
    const outcome = await pungi.runCompiled(forged);
    expect(verdictOf(outcome, 'invalid').message).toContain('script');
    expect(outcome.stdout.text).toBe('');
  });

  test('that must be compiled while the server is full is busy, not an internal error', async () => {
    await withPungi(
      { MAX_CONCURRENT_EXECUTIONS: '1', MAX_QUEUED_EXECUTIONS: '0', PUNGI_CACHE_DIR: newFolder() },
      async (own) => {
        const cancel = new AbortController();
        const first = own.run(
          { code: 'import threading\nthreading.Event().wait()' },
          { signal: cancel.signal },
        );
        await until(async () => (await own.health()).queue.active === 1, 'the first run goes on');
        const code = 'print(1)';
        const outcome = await own.runCompiled({ code, filename: 'main.py', sha256: sha256(code) });
        cancel.abort();
        await first;
        verdictOf(outcome, 'busy');
      },
    );
  });
});

describe('the cache', () => {
  test('is one private file for each script, used by the next Pungi', async () => {
    const own = newFolder();
    const code = 'print("cached")';
    await withPungi({ PUNGI_CACHE_DIR: own }, (first) => first.precompile(code));
    const [file, ...more] = filesIn(own);
    expect(more).toEqual([]);
    expect(statSync(file!).mode & 0o077).toBe(0);
    const written = statSync(file!, { bigint: true }).mtimeNs;
    await withPungi({ PUNGI_CACHE_DIR: own }, async (second) => {
      expectOk(await second.runCompiled(await second.precompile(code)));
    });
    expect(statSync(file!, { bigint: true }).mtimeNs).toBe(written);
    expect(filesIn(own)).toEqual([file]);
  });

  test.each<[string, (content: Buffer) => Buffer]>([
    ['emptied', () => Buffer.alloc(0)],
    ['cut short', (content) => content.subarray(0, content.length - 5)],
    [
      'changed in one byte',
      (content) => {
        const changed = Buffer.from(content);
        changed[100] = changed[100]! ^ 1;
        return changed;
      },
    ],
    ['filled with something else', () => Buffer.from('not\nbytecode')],
  ])('a file that was %s is noticed and written anew', async (_, spoil) => {
    const own = newFolder();
    const code = 'print("right")';
    await withPungi({ PUNGI_CACHE_DIR: own }, (first) => first.precompile(code));
    const [file] = filesIn(own) as [string];
    const good = readFileSync(file);
    writeFileSync(file, spoil(good));
    await withPungi({ PUNGI_CACHE_DIR: own }, async (second) => {
      const outcome = await second.runCompiled(await second.precompile(code));
      expectOk(outcome);
      expect(outcome.stdout.text).toBe('right\n');
    });
    expect(readFileSync(file).equals(good)).toBe(true);
  });

  test('that cannot be written is only slow', async () => {
    const own = newFolder();
    writeFileSync(own, 'a file where the folder should be');
    await withPungi({ PUNGI_CACHE_DIR: own }, async (engine) => {
      expectOk(await engine.runCompiled(await engine.precompile('print(1)')));
    });
  });

  test('with a folder in the place of a file is only slow', async () => {
    const own = newFolder();
    const key = { sourceSha256: 'a', filename: 'b', interpreter: 'c' };
    const cache = new BytecodeCache(own);
    cache.set(key, 'bytecode');
    const [file] = filesIn(own) as [string];
    mkdirSync(`${own}-other`);
    mkdirSync(file.replace(own, `${own}-other`));
    const other = new BytecodeCache(`${own}-other`);
    expect(other.get(key)).toBeUndefined();
    other.set(key, 'bytecode');
    expect(other.get(key)).toBe('bytecode');
  });

  test('keeps apart what differs in source, name or interpreter', () => {
    const cache = new BytecodeCache(newFolder());
    const key = { sourceSha256: 's', filename: 'f', interpreter: 'i' };
    cache.set(key, 'bytecode');
    for (const other of [{ sourceSha256: 'x' }, { filename: 'x' }, { interpreter: 'x' }]) {
      expect(cache.get({ ...key, ...other })).toBeUndefined();
    }
    expect(cache.get(key)).toBe('bytecode');
    // Not even by moving a letter from one field to the next.
    expect(cache.get({ sourceSha256: 'sf', filename: '', interpreter: 'i' })).toBeUndefined();
  });

  test('forgets the oldest in memory, not on disk', () => {
    const cache = new BytecodeCache(newFolder(), 2);
    const key = (n: number) => ({ sourceSha256: `${n}`, filename: 'f', interpreter: 'i' });
    for (const n of [1, 2, 3]) cache.set(key(n), `bytecode ${n}`);
    for (const n of [1, 2, 3]) expect(cache.get(key(n))).toBe(`bytecode ${n}`);
  });
});

test('a script is compiled in the sandbox: what Pungi finds in a bad cache never reaches the server', async () => {
  const own = newFolder();
  const engine: Pungi = startPungi({ PUNGI_CACHE_DIR: own });
  try {
    const script = await engine.precompile('print(1)');
    const key = {
      sourceSha256: script.sha256,
      filename: 'main.py',
      interpreter: (await engine.state()).bytecodeTag,
    };
    new BytecodeCache(own).set(key, Buffer.from('not marshal data').toString('base64'));
    const other = startPungi({ PUNGI_CACHE_DIR: own });
    const outcome = await other.runCompiled(script).finally(() => other.close());
    expect(outcome.verdict.kind).not.toBe('ok');
    expectOk(await engine.run({ code: 'print("still here")' }));
  } finally {
    await engine.close();
  }
});
