import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type PungiError } from '../../../pungi/src/index.js';
import { loadConfig } from '../../src/config/load.js';
import type { Limits } from '../../src/contract/limits.js';
import { type Admitted, Gate } from '../../src/gate/gate.js';
import { LimitRules } from '../../src/gate/limits.js';
import { loadProfiles } from '../../src/gate/profiles/load-profiles.js';

const folder = mkdtempSync(join(tmpdir(), 'pungi-gate-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'sales.csv'), 'a,b\n1,2\n');
writeFileSync(
  join(folder, 'profiles.yaml'),
  `profiles:
  pinned: {environment: ml}
  packed: {packages: [numpy]}
  both: {extends: packed, environment: ml}
  blocks: {blocked_imports: [os]}
  allows: {allowed_imports: []}
  builtins: {blocked_builtins: [open]}
  operations: {blocked_operations: [file]}
  small: {limits: {timeout_ms: 100, memory_mb: 4096}}
  data: {workspace: [{name: here, path: .}], cache_ttl: 60}
  gone: {workspace: [{name: gone, path: ./gone}], cache_ttl: 60}
  web: {network: {allow: [api.example.com]}, cache_ttl: 60}
  steady: {extends: web, deterministic: true}
  dice: {cache_ttl: 60, deterministic: false}
  kept: {cache_ttl: 60}
  vars: {template_vars: {a: 1, context: mine}, context_variable: brief, default_imports: [math as m]}
  hidden: {template_vars: {brief: 1}, context_variable: brief}
  open: {disclosure: true}
  ready: {preload: [json]}
`,
);

const gateWith = (settings: Record<string, string> = {}) => {
  const config = loadConfig({ env: { PROFILES_FILE: join(folder, 'profiles.yaml'), ...settings } });
  return new Gate(config, loadProfiles(config));
};
const gate = gateWith();
const admit = (request: object, by = gate): Promise<Admitted> => by.admit({ code: '1', ...request });
const refusal = (request: object, by = gate): Promise<string> =>
  admit(request, by).then(
    () => 'let through',
    ({ code, message }: PungiError) => `${code}: ${message}`,
  );

describe('which profile', () => {
  const strict = gateWith({ ALLOWED_PROFILES: 'diego kept', DEFAULT_PROFILE: 'kept' });
  const named = gateWith({ ALLOWED_PROFILES: 'diego' });
  const none = gateWith({ ALLOWED_PROFILES: ',' });

  test.each([
    ['none is named', {}, gate, 'default'],
    ['one is named', { profile: 'diego' }, gate, 'diego'],
    ['none is named, and the server has another default', {}, strict, 'kept'],
    ['one is named that is allowed', { profile: 'diego' }, strict, 'diego'],
  ])('%s', async (_, request, by, name) => {
    expect((await admit(request, by)).profile?.name).toBe(name);
  });

  test.each([
    [
      'one that does not exist',
      { profile: 'deigo' },
      gate,
      /^INVALID_INPUT: .*"deigo".*Did you mean "diego"/,
    ],
    [
      'one that may not be used',
      { profile: 'default' },
      strict,
      /^DENIED: The profile "default" may not be used\. This server allows: diego, kept\.$/,
    ],
    ['one below one that may be used', { profile: 'rachel' }, named, /^DENIED: .*"rachel"/],
    [
      'the default one, which may not be used',
      {},
      named,
      /^DENIED: A run must name its profile here.*allows: diego\.$/,
    ],
    ['any, where none may be used', { profile: 'diego' }, none, /^DENIED: .*allows: none\.$/],
    [
      'the name of something that every object has',
      { profile: 'constructor' },
      gate,
      /^INVALID_INPUT: There is no/,
    ],
    ['an empty name', { profile: '' }, gate, /^INVALID_INPUT: There is no profile ""/],
    ['a name that is no text', { profile: 5 }, gate, /^INVALID_INPUT: The request is not valid: profile/],
  ])('never %s', async (_, request, by, sentence) => {
    expect(await refusal(request, by)).toMatch(sentence);
  });

  test('none for what Pungi itself runs, whatever callers may use', async () => {
    const own = await none.admitOwn({ code: '1', venvName: 'ml' });
    expect(own).toMatchObject({
      profile: null,
      venvName: 'ml',
      packages: [],
      cacheSeconds: 0,
      isFresh: true,
    });
    expect(own.job).not.toHaveProperty('rules');
    expect(own).not.toHaveProperty('poolSpec');
  });
});

describe('which environment', () => {
  test.each([
    ['none', {}, undefined, []],
    ['the one of the request', { venvName: 'x' }, 'x', []],
    ['the one of the profile', { profile: 'pinned' }, 'ml', []],
    ['the one of the profile, which the request names, too', { profile: 'pinned', venvName: 'ml' }, 'ml', []],
    ['one for the packages of the profile', { profile: 'packed' }, undefined, ['numpy']],
    ['the one of a profile that has packages as well', { profile: 'both' }, 'ml', []],
    ['any, for a profile that says nothing of it', { profile: 'blocks', venvName: 'x' }, 'x', []],
  ])('%s', async (_, request, venvName, packages) => {
    expect(await admit(request)).toMatchObject({ venvName, packages });
  });

  test.each([
    [
      'another than the profile says',
      { profile: 'pinned', venvName: 'x' },
      /^DENIED: .*"pinned" are in the environment "ml", not in "x"/,
    ],
    [
      'another than is made for its packages',
      { profile: 'packed', venvName: 'x' },
      /^DENIED: .*\(numpy\), not in "x"/,
    ],
    [
      'another for a persona',
      { profile: 'diego', venvName: 'x' },
      /^DENIED: .*\(numpy, pandas, pyarrow, openpyxl, tabulate, jinja2, matplotlib\)/,
    ],
    ['an empty name against the profile', { profile: 'pinned', venvName: '' }, /^DENIED/],
  ])('never %s', async (_, request, sentence) => {
    expect(await refusal(request)).toMatch(sentence);
  });
});

describe('which limits', () => {
  test.each<[string, object, Partial<Limits>]>([
    ['those of the server', {}, {}],
    ['those of the profile, where they are tighter', { profile: 'small' }, { timeoutMs: 100, memoryMb: 512 }],
    [
      'those of the request, where they are tighter still',
      { profile: 'small', limits: { timeoutMs: 50 } },
      { timeoutMs: 50 },
    ],
    [
      'not those of a request that wants more than the profile',
      { profile: 'small', limits: { timeoutMs: 5000 } },
      { timeoutMs: 100 },
    ],
    [
      'not those of a request that wants more than the ceiling of the server',
      { limits: { diskMb: 4096 } },
      { diskMb: 1024 },
    ],
  ])('%s', async (_, request, limits) => {
    const expected = { ...DEFAULT_LIMITS, ...('profile' in request ? { timeoutMs: 100 } : {}), ...limits };
    expect((await admit(request)).job.limits).toEqual(expected);
  });

  test('are never above the ceilings of the server and the limits of the profile, whatever is asked for', async () => {
    const { ceilings } = new LimitRules(loadConfig({ env: {} }));
    const names = Object.keys(DEFAULT_LIMITS) as (keyof Limits)[];
    const amount = fc.integer({ min: 1, max: 2 ** 40 });
    const wanted = fc.record(Object.fromEntries(names.map((name) => [name, amount])), { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(wanted, fc.constantFrom('default', 'small', 'diego'), async (limits, profile) => {
        const { job, profile: chosen } = await admit({ profile, limits });
        for (const name of names) {
          expect(job.limits[name]).toBeLessThanOrEqual(ceilings[name]);
          expect(job.limits[name]).toBeLessThanOrEqual(chosen?.limits[name] ?? ceilings[name]);
        }
      }),
    );
  });
});

describe('which rules', () => {
  test.each(['default', 'pinned', 'small', 'open', 'vars', 'web'])('none for %s', async (profile) => {
    expect((await admit({ profile })).job).not.toHaveProperty('rules');
  });

  test.each([
    ['blocks', { blockedImports: ['os'], allowedImports: null }],
    ['allows', { blockedImports: [], allowedImports: [] }],
    ['builtins', { blockedBuiltins: ['open'] }],
    ['operations', { blockedOperations: ['file'] }],
    [
      'diego',
      {
        message: 'Code outside strategic scope. Only strategic analysis allowed.',
        defaultImports: ['pandas', 'numpy', 'pandas as pd', 'numpy as np'],
      },
    ],
  ])('those of %s', async (profile, rules) => {
    expect((await admit({ profile })).job.rules).toMatchObject({ profile, ...rules });
  });

  test('no sentence where the profile has none', async () => {
    expect((await admit({ profile: 'blocks' })).job.rules?.message).toBeNull();
  });
});

describe('which variables', () => {
  test.each<[string, object, [string, unknown][]]>([
    ['none', {}, []],
    ['the context', { context: [1] }, [['context', [1]]]],
    [
      'those of the profile, and an empty context by its own name',
      { profile: 'vars' },
      [
        ['a', 1],
        ['context', 'mine'],
        ['brief', {}],
      ],
    ],
    [
      'the context by both names, before that of the profile',
      { profile: 'vars', context: 5 },
      [
        ['a', 1],
        ['context', 5],
        ['brief', 5],
      ],
    ],
    [
      'the context by its own name, before a variable of that name',
      { profile: 'hidden', context: 5 },
      [
        ['brief', 5],
        ['context', 5],
      ],
    ],
    [
      'nothing for a context of nothing',
      { profile: 'hidden', context: null },
      [
        ['brief', {}],
        ['context', null],
      ],
    ],
    [
      'persona, role, context and data for a persona',
      { profile: 'diego', context: { q: 1 } },
      [
        ['persona', 'diego'],
        ['role', 'Engineering Leadership'],
        ['context', { q: 1 }],
        ['strategic_context', { q: 1 }],
        ['available_data', []],
      ],
    ],
  ])('%s', async (_, request, variables) => {
    expect(Object.entries((await admit(request)).job.variables)).toEqual(variables);
  });

  test('a list of the data where the profile has folders', async () => {
    const { job } = await admit({ profile: 'data' });
    expect(job.variables['available_data']).toEqual([
      { name: 'profiles.yaml', path: 'data/here/profiles.yaml', bytes: expect.any(Number), kind: 'other' },
      { name: 'sales.csv', path: 'data/here/sales.csv', bytes: 8, kind: 'csv' },
    ]);
    expect(JSON.stringify(job)).not.toContain(folder);
  });
});

describe('what else', () => {
  test.each([
    ['imports', 'vars', { imports: ['math as m'] }],
    ['a look at the code', 'open', { summarize: true }],
  ])('%s', async (_, profile, part) => {
    expect((await admit({ profile })).job).toMatchObject(part);
    const plain = (await admit({})).job;
    for (const key of Object.keys(part)) expect(plain).not.toHaveProperty(key);
  });

  test.each([
    ['preloaded modules', 'ready', { preload: ['json'], data: [], allowedHosts: [] }],
    ['folders', 'data', { preload: [], data: [{ name: 'here', path: folder }], allowedHosts: [] }],
    ['hosts', 'web', { preload: [], data: [], allowedHosts: ['api.example.com'] }],
  ])('workers with %s', async (_, profile, poolSpec) => {
    expect((await admit({ profile })).poolSpec).toEqual(poolSpec);
  });

  test('workers like any other where the profile wants none of its own', async () => {
    for (const profile of ['default', 'blocks', 'pinned', 'open'])
      expect(await admit({ profile })).not.toHaveProperty('poolSpec');
  });

  test.each([
    ['data/a.csv', 'data', /^let through$/],
    ['data', 'data', /^INVALID_INPUT: The file "data"/],
    ['data/here', 'data', /^INVALID_INPUT/],
    ['data/here/sales.csv', 'data', /^INVALID_INPUT: The file "data\/here\/sales.csv".*in data\/here\./],
    ['data.csv', 'data', /^let through$/],
    ['more/data/a.csv', 'data', /^let through$/],
    ['data/a.csv', 'default', /^let through$/],
    ['data/a.csv', 'diego', /^let through$/],
  ])('the file %s for the profile %s', async (path, profile, answer) => {
    expect(await refusal({ profile, files: [{ path, text: '' }] })).toMatch(answer);
  });

  test('what the run is for, and that it is to be made anew', async () => {
    expect(await admit({})).toMatchObject({ capability: null, isFresh: false });
    expect(await admit({ capability: 'roi', fresh: true })).toMatchObject({
      capability: 'roi',
      isFresh: true,
    });
  });
});

describe('how long its outcome is kept', () => {
  test.each([
    ['default', 0],
    ['kept', 60],
    ['diego', 1800],
    ['web', 0], // what the network answers is not ours
    ['steady', 60],
    ['dice', 0],
    ['data', 60],
    ['gone', 0], // what cannot be seen cannot be known to be the same
  ])('%s: %i s', async (profile, seconds) => {
    expect((await admit({ profile })).cacheSeconds).toBe(seconds);
  });
});
