import { isAbsolute } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Limits } from '../../src/contract/limits.js';
import type { Profile, ProfileDefinition } from '../../src/contract/profile.js';
import { inherit, type ProfileSource } from '../../src/gate/profiles/inherit.js';
import { profilesOf } from './profiles-of.js';

const said = (name: string, definition: ProfileDefinition): ProfileSource => ({
  name,
  origin: 'test',
  definition,
});
/** What a child has that says this, of a parent that says that. */
const childOf = (parent: ProfileDefinition, child: ProfileDefinition): Profile =>
  inherit([said('child', { ...child, extends: 'parent' }), said('parent', parent)]);

type Row = [key: keyof Profile, parent: ProfileDefinition, child: ProfileDefinition, becomes: unknown];

describe('of parent and child becomes', () => {
  test.each<Row>([
    // what is single is replaced
    ['description', { description: 'parent' }, {}, ''],
    ['description', { description: 'parent' }, { description: 'child' }, 'child'],
    ['environment', { environment: 'ml' }, {}, 'ml'],
    ['environment', { environment: 'ml' }, { environment: 'other' }, 'other'],
    ['environment', {}, {}, null],
    ['scopeMessage', { scopeMessage: 'No.' }, {}, 'No.'],
    ['scopeMessage', { scopeMessage: 'No.' }, { scopeMessage: 'Never.' }, 'Never.'],
    ['contextVariable', { contextVariable: 'a' }, { contextVariable: 'b' }, 'b'],
    ['outputStyle', {}, {}, 'full'],
    ['outputStyle', { outputStyle: 'brief' }, {}, 'brief'],
    ['outputStyle', { outputStyle: 'brief' }, { outputStyle: 'value' }, 'value'],
    ['cacheTtl', {}, {}, 0],
    ['cacheTtl', { cacheTtl: 1800 }, {}, 1800],
    ['cacheTtl', { cacheTtl: 1800 }, { cacheTtl: 0 }, 0],
    ['disclosure', { disclosure: true }, {}, true],
    ['disclosure', { disclosure: true }, { disclosure: false }, false],
    ['focus', { focus: 'a' }, { focus: 'b' }, 'b'],
    // lists add, each thing once
    ['packages', { packages: ['numpy'] }, { packages: ['pandas', 'numpy'] }, ['numpy', 'pandas']],
    [
      'packages',
      { packages: ['numpy', 'My.Tool[x]'] },
      { packages: ['numpy>=2', 'my_tool'] },
      ['numpy>=2', 'my_tool'],
    ],
    ['preload', { preload: ['json'] }, { preload: ['math'] }, ['json', 'math']],
    ['blockedImports', { blockedImports: ['os'] }, {}, ['os']],
    ['blockedImports', { blockedImports: ['os'] }, { blockedImports: [] }, ['os']],
    ['blockedImports', { blockedImports: ['os'] }, { blockedImports: ['sys'] }, ['os', 'sys']],
    ['blockedBuiltins', { blockedBuiltins: ['open'] }, { blockedBuiltins: ['eval'] }, ['open', 'eval']],
    [
      'blockedOperations',
      { blockedOperations: ['file'] },
      { blockedOperations: ['process'] },
      ['file', 'process'],
    ],
    ['defaultImports', { defaultImports: ['math'] }, { defaultImports: ['json'] }, ['math', 'json']],
    // nothing said is everything allowed; the first list ends that
    ['allowedImports', {}, {}, null],
    ['allowedImports', {}, { allowedImports: ['math'] }, ['math']],
    ['allowedImports', { allowedImports: ['math'] }, {}, ['math']],
    ['allowedImports', {}, { allowedImports: [] }, []],
    ['allowedImports', { allowedImports: ['math'] }, { allowedImports: ['json'] }, ['math', 'json']],
    // maps are merged
    [
      'limits',
      { limits: { memoryMb: 512, cpuMs: 9 } },
      { limits: { memoryMb: 64 } },
      { memoryMb: 64, cpuMs: 9 },
    ],
    ['limits', { limits: { memoryMb: 64 } }, { limits: { memoryMb: 512 } }, { memoryMb: 512 }],
    ['templateVars', { templateVars: { a: 1, b: 1 } }, { templateVars: { b: 2 } }, { a: 1, b: 2 }],
    ['templateVars', { templateVars: { a: { x: 1 } } }, { templateVars: { a: { y: 2 } } }, { a: { y: 2 } }],
    // hosts add, until somebody says none
    ['allowedHosts', {}, {}, []],
    ['allowedHosts', { network: { allow: ['a.example'] } }, {}, ['a.example']],
    [
      'allowedHosts',
      { network: { allow: ['a.example'] } },
      { network: { allow: ['b.example'] } },
      ['a.example', 'b.example'],
    ],
    ['allowedHosts', { network: { allow: ['a.example'] } }, { network: 'none' }, []],
    ['allowedHosts', { network: 'none' }, { network: { allow: ['a.example'] } }, ['a.example']],
    // what the network answers may differ
    ['deterministic', {}, {}, true],
    ['deterministic', { network: { allow: ['a.example'] } }, {}, false],
    ['deterministic', { network: { allow: ['a.example'] } }, { network: 'none' }, true],
    ['deterministic', { network: { allow: ['a.example'] } }, { deterministic: true }, true],
    ['deterministic', { deterministic: false }, {}, false],
    // folders
    [
      'workspace',
      { workspace: [{ name: 'a', path: '/a' }] },
      {
        workspace: [
          { name: 'b', path: '/b' },
          { name: 'a', path: '/a' },
        ],
      },
      [
        { name: 'a', path: '/a' },
        { name: 'b', path: '/b' },
      ],
    ],
    ['lineage', {}, {}, ['child', 'parent']],
  ])('%s: %j and %j', (key, parent, child, becomes) => {
    expect(childOf(parent, child)[key]).toEqual(becomes);
  });
});

const words = fc.uniqueArray(fc.constantFrom('os', 'sys', 'json', 'math', 'socket'));
const amount = fc.integer({ min: 1, max: 1000 });
const definition = fc.record(
  {
    blockedImports: words,
    blockedBuiltins: words,
    blockedOperations: fc.uniqueArray(fc.constantFrom('file', 'process', 'network', 'introspection')),
    limits: fc.record({ memoryMb: amount, cpuMs: amount, timeoutMs: amount }, { requiredKeys: [] }),
    allowedImports: words,
  },
  { requiredKeys: [] },
) as fc.Arbitrary<ProfileDefinition>;

test('a child keeps every block of its parents, and every limit that it says nothing about', () => {
  fc.assert(
    fc.property(fc.array(definition, { minLength: 2, maxLength: 6 }), (definitions) => {
      const links = definitions.map((one, index) => said(`p${index}`, one));
      const child = inherit(links as [ProfileSource, ...ProfileSource[]]);
      const parent = inherit(links.slice(1) as [ProfileSource, ...ProfileSource[]]);
      for (const key of ['blockedImports', 'blockedBuiltins', 'blockedOperations'] as const) {
        expect(child[key]).toEqual(expect.arrayContaining([...parent[key]]));
      }
      for (const [name, limit] of Object.entries(parent.limits) as [keyof Limits, number][]) {
        expect(child.limits[name]).toBe(definitions[0]!.limits?.[name] ?? limit);
      }
      if (parent.allowedImports !== null) {
        const own = definitions[0]!.allowedImports ?? [];
        expect(new Set(child.allowedImports)).toEqual(new Set([...parent.allowedImports, ...own]));
      }
    }),
  );
});

describe('in a file', () => {
  test('keys may be written in either way', () => {
    const snake = profilesOf(
      'profiles:\n  a: {allowed_imports: [os.path], cache_ttl: 5, template_vars: {my_name: 1}, limits: {memory_mb: 5}}',
    );
    const camel = profilesOf(
      'profiles:\n  a: {allowedImports: [os.path], cacheTtl: 5, templateVars: {my_name: 1}, limits: {memoryMb: 5}}',
    );
    const without = ({ origin: _, ...rest }: Profile) => rest;
    expect(without(snake.get('a'))).toEqual(without(camel.get('a')));
    expect(snake.get('a')).toMatchObject({
      allowedImports: ['os.path'],
      cacheTtl: 5,
      templateVars: { my_name: 1 },
      limits: { memoryMb: 5 },
    });
  });

  test('folders are relative to it', () => {
    const { workspace, origin } = profilesOf('profiles:\n  a: {workspace: [{name: d, path: ./data}]}').get(
      'a',
    );
    expect(isAbsolute(workspace[0]!.path)).toBe(true);
    expect(workspace).toEqual([{ name: 'd', path: origin.replace('team.yaml', 'data') }]);
  });

  test('a parent may come after its child, and an empty profile is one', () => {
    const { all, get } = unbound(profilesOf('profiles:\n  b: {extends: a}\n  a:\n'));
    expect(get('b').lineage).toEqual(['b', 'a']);
    expect(all.map(({ name }) => name).slice(-2)).toEqual(['b', 'a']);
  });

  test('one with the name of a built-in profile takes its place, also for those that extend it', () => {
    const profiles = profilesOf('profiles:\n  strategic: {blockedImports: [json]}');
    expect(profiles.get('strategic')).toMatchObject({ blockedImports: ['json'], allowedImports: null });
    expect(profiles.get('diego')).toMatchObject({
      blockedImports: ['json'],
      allowedImports: null,
      origin: 'built-in',
    });
    expect(profiles.personas.map(({ name }) => name)).toContain('diego');
  });

  test('one that extends its own name stands on the built-in profile', () => {
    const profiles = profilesOf('profiles:\n  strategic: {extends: strategic, blockedImports: [json]}');
    expect(profiles.get('strategic').lineage).toEqual(['strategic']);
    expect(profiles.get('strategic').blockedImports).toEqual(expect.arrayContaining(['os', 'json']));
    expect(profiles.get('diego').blockedImports).toEqual(expect.arrayContaining(['os', 'json']));
    expect(profiles.get('diego').cacheTtl).toBe(1800);
  });

  test('the names of everything that objects have are names like any other', () => {
    const profiles = profilesOf('profiles:\n  constructor: {focus: a}\n  __proto__: {focus: b}');
    expect(profiles.get('constructor').focus).toBe('a');
    expect(profiles.get('__proto__').focus).toBe('b');
    expect(() => profiles.get('toString')).toThrow('There is no profile');
  });
});

const unbound = (profiles: ReturnType<typeof profilesOf>) => ({
  all: profiles.all,
  get: (name: string) => profiles.get(name),
});
