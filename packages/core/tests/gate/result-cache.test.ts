import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import type { Outcome } from '../../src/contract/outcome.js';
import { Gate } from '../../src/gate/gate.js';
import { loadProfiles } from '../../src/gate/profiles/load-profiles.js';
import { ResultCache } from '../../src/gate/result-cache.js';

const folder = mkdtempSync(join(tmpdir(), 'pungi-cache-'));
afterAll(() => rmSync(folder, { recursive: true }));

const outcome = (text = 'hello', more: Partial<Outcome> = {}): Outcome => ({
  runId: 'first',
  verdict: { kind: 'ok' },
  stdout: { text, bytes: text.length, truncated: false },
  stderr: { text: '', bytes: 0, truncated: false },
  value: { type: 'int', repr: '42', json: 42 },
  usage: { wallMs: 12, cpuMs: 11, peakMemoryMb: 30, waitMs: 2, installMs: 3 },
  codeSha256: 'ab',
  isolation: { tier: 'namespace', features: ['seccomp'] },
  environment: 'default',
  profile: 'kept',
  cached: null,
  disclosure: null,
  ...more,
});

describe('an outcome', () => {
  test('that is kept is found, as an answer of its own that says whose it is', () => {
    const cache = new ResultCache(1);
    cache.set('key', outcome(), 60, 1000);
    const found = cache.get('key', 2000);
    expect(found).toMatchObject({
      verdict: { kind: 'ok' },
      stdout: { text: 'hello' },
      value: { repr: '42' },
      isolation: { tier: 'namespace' },
      cached: { runId: 'first', at: new Date(1000).toISOString() },
      usage: { cpuMs: 0, peakMemoryMb: 0, waitMs: 0, installMs: 0 },
    });
    expect(found?.runId).toMatch(/^[0-9a-f-]{36}$/);
    expect(cache.get('key', 2000)?.runId).not.toBe(found?.runId);
    expect(cache.get('other', 2000)).toBeUndefined();
  });

  test('cannot be changed by whoever got it', () => {
    const cache = new ResultCache(1);
    const mine = outcome();
    cache.set('key', mine, 60, 0);
    mine.stdout.text = 'changed';
    cache.get('key', 1)!.stdout.text = 'changed';
    expect(cache.get('key', 1)?.stdout.text).toBe('hello');
  });

  test('is gone when its time is over, and when the clock goes back', () => {
    const cache = new ResultCache(1);
    cache.set('key', outcome(), 60, 1000);
    expect(cache.get('key', 60_999)).toBeDefined();
    expect(cache.get('key', 61_000)).toBeUndefined();
    expect(cache).toMatchObject({ size: 0, bytes: 0 });
    cache.set('key', outcome(), 60, 1000);
    expect(cache.get('key', 999)).toBeUndefined();
  });

  test.each<[string, Partial<Outcome>, number]>([
    ['failed', { verdict: { kind: 'exited', code: 'NONZERO_EXIT', message: 'm', status: 1 } }, 60],
    ['was refused', { verdict: { kind: 'denied', code: 'DENIED', message: 'm', reason: 'm' } }, 60],
    ['was cancelled', { verdict: { kind: 'cancelled', code: 'CANCELLED', message: 'm' } }, 60],
    [
      'ran out of time',
      { verdict: { kind: 'timed-out', code: 'EXECUTION_TIMEOUT', message: 'm', limitMs: 1 } },
      60,
    ],
    ['is another’s already', { cached: { runId: 'x', at: 'y' } }, 60],
    ['may not be kept', {}, 0],
  ])('that %s is never kept', (_, more, seconds) => {
    const cache = new ResultCache(1);
    cache.set('key', outcome('hello', more), seconds, 0);
    expect(cache.get('key', 1)).toBeUndefined();
  });

  test('that is there anew replaces the old one, with a new time', () => {
    const cache = new ResultCache(1);
    cache.set('key', outcome('old'), 60, 0);
    const { bytes } = cache;
    cache.set('key', outcome('new', { runId: 'other' }), 60, 50_000);
    expect(cache.get('key', 100_000)).toMatchObject({ stdout: { text: 'new' }, cached: { runId: 'other' } });
    expect(cache).toMatchObject({ size: 1, bytes });
  });
});

describe('the room', () => {
  const QUARTER = 'x'.repeat(250_000);

  test('is never more than it may be: the least used leave first', () => {
    const cache = new ResultCache(1);
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, outcome(QUARTER), 60, 0);
    cache.get('a', 1);
    cache.set('e', outcome(QUARTER), 60, 0);
    expect(['a', 'b', 'c', 'd', 'e'].filter((key) => cache.get(key, 1))).toEqual(['a', 'c', 'd', 'e']);
    for (let index = 0; index < 50; index += 1) {
      cache.set(`more${index}`, outcome('x'.repeat(index * 10_000)), 60, 0);
      expect(cache.bytes).toBeLessThanOrEqual(1024 * 1024);
    }
    expect(cache.size).toBeGreaterThan(1);
  });

  test('is counted in bytes, not in letters', () => {
    const cache = new ResultCache(1);
    cache.set('key', outcome('ż'.repeat(600_000)), 60, 0);
    expect(cache.size).toBe(0);
  });

  test('is not taken by what is larger than all of it', () => {
    const cache = new ResultCache(1);
    cache.set('a', outcome(), 60, 0);
    cache.set('b', outcome('x'.repeat(2 ** 20)), 60, 0);
    expect(cache.get('b', 1)).toBeUndefined();
    expect(cache.get('a', 1)).toBeDefined();
  });

  test('may be none', () => {
    const cache = new ResultCache(0);
    cache.set('a', outcome(), 60, 0);
    expect(cache).toMatchObject({ size: 0, bytes: 0 });
  });
});

describe('the key', () => {
  const cache = new ResultCache(1);
  const file = join(folder, 'profiles.yaml');
  const write = (rules: string) => writeFileSync(file, `profiles:\n  kept: {cache_ttl: 60, ${rules}}\n`);
  const keyOf = async (request: object = {}, identity = 'lock python', env: Record<string, string> = {}) => {
    const config = loadConfig({
      env: { PROFILES_FILE: file, ALLOWED_ENV: 'A', ALLOWED_PROFILES: '*', ...env },
    });
    const gate = new Gate(config, loadProfiles(config));
    return cache.keyOf(await gate.admit({ code: 'print(1)', profile: 'kept', ...request }), identity);
  };

  test('is the same for the same, whoever asks, for what, and however often', async () => {
    write('focus: a');
    const key = await keyOf();
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(await keyOf()).toBe(key);
    expect(await keyOf({ capability: 'roi', fresh: true })).toBe(key);
    expect(await keyOf({ filename: 'main.py', argv: [], stdin: '', files: [], env: {}, limits: {} })).toBe(
      key,
    );
  });

  test.each<[string, object]>([
    ['the code', { code: 'print(2)' }],
    ['white space in the code', { code: 'print(1) ' }],
    ['the file name', { filename: 'other.py' }],
    ['the arguments', { argv: ['a'] }],
    ['the division of the arguments', { argv: ['a', ''] }],
    ['the input', { stdin: 'a' }],
    ['a file', { files: [{ path: 'a', text: 'b' }] }],
    ['the content of a file', { files: [{ path: 'a', text: 'c' }] }],
    ['the path of a file', { files: [{ path: 'b', text: 'c' }] }],
    ['a variable of the environment', { env: { A: '1' } }],
    ['the context', { context: { a: 1, b: 2 } }],
    ['the order in the context, which code can see', { context: { b: 2, a: 1 } }],
    ['nothing as the context', { context: null }],
    ['a limit', { limits: { memoryMb: 100 } }],
    ['the profile', { profile: 'default' }],
  ])('is another for %s', async (_, request) => {
    write('focus: a');
    const others = [{}, { argv: ['a'] }, { files: [{ path: 'a', text: 'b' }] }, { context: { a: 1, b: 2 } }];
    const key = await keyOf(request);
    for (const other of others.filter((one) => JSON.stringify(one) !== JSON.stringify(request)))
      expect(await keyOf(other)).not.toBe(key);
  });

  test('is another for another environment, server limit, or rule of the profile', async () => {
    write('focus: a');
    const keys = [
      await keyOf(),
      await keyOf({}, 'other lock'),
      await keyOf({}, 'lock python', { MAX_CPU_MS: '5' }),
    ];
    write('focus: a, blocked_imports: [os]');
    keys.push(await keyOf());
    write('focus: a, template_vars: {x: 1}');
    keys.push(await keyOf());
    expect(new Set(keys).size).toBe(5);
  });

  test('is another when the data is', async () => {
    mkdirSync(join(folder, 'data'));
    write('workspace: [{name: d, path: ./data}]');
    const keys = [await keyOf()];
    writeFileSync(join(folder, 'data/a.csv'), '1');
    keys.push(await keyOf());
    writeFileSync(join(folder, 'data/a.csv'), '22');
    keys.push(await keyOf());
    writeFileSync(join(folder, 'data/a.csv'), '33'); // as large as before
    keys.push(await keyOf());
    expect(new Set(keys).size).toBe(4);
    expect(await keyOf()).toBe(keys[3]);
  });
});
