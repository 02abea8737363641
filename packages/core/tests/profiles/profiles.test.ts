import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/contract/profile.js';
import { loadProfiles } from '../../src/gate/profiles/load-profiles.js';
import { CAPABILITIES } from '../../src/gate/profiles/profiles.js';
import { builtIn, profilesOf, refusalOf } from './profiles-of.js';

/** What every persona finds imported. */
const BOTH = ['pandas', 'numpy', 'pandas as pd', 'numpy as np'];

describe('built in', () => {
  test('the default profile has no rule at all', () => {
    expect(builtIn().get('default')).toMatchObject({
      allowedImports: null,
      blockedImports: [],
      blockedBuiltins: [],
      blockedOperations: [],
      limits: {},
      packages: [],
      environment: null,
      allowedHosts: [],
      workspace: [],
      cacheTtl: 0,
      disclosure: false,
    });
  });

  test('strategic analysis has the rules of its specification', () => {
    expect(builtIn().get('strategic')).toMatchObject({
      origin: 'built-in',
      limits: { timeoutMs: 30_000, memoryMb: 512 },
      allowedImports: [
        'pandas',
        'numpy',
        'json',
        'datetime',
        'math',
        'statistics',
        'collections',
        'tabulate',
        'jinja2',
        'matplotlib',
      ],
      blockedImports: ['os', 'sys', 'subprocess', 'socket', 'urllib', 'requests', 'shutil'],
      blockedBuiltins: ['open', 'exec', 'eval', 'compile', '__import__', 'globals', 'locals', 'breakpoint'],
      blockedOperations: [...OPERATIONS],
      scopeMessage: 'Code outside strategic scope. Only strategic analysis allowed.',
      contextVariable: 'strategic_context',
      packages: ['numpy', 'pandas', 'pyarrow', 'openpyxl', 'tabulate', 'jinja2', 'matplotlib'],
      cacheTtl: 1800,
      deterministic: true,
      disclosure: true,
      allowedHosts: [],
    });
  });

  test.each([
    ['diego', 'Engineering Leadership', 'leadership_metrics', BOTH],
    ['alvaro', 'Business Strategy', 'business_intelligence', [...BOTH, 'statistics']],
    ['martin', 'Platform Architecture', 'architecture_analysis', [...BOTH, 'json']],
    ['camille', 'Strategic Technology', 'strategic_technology', [...BOTH, 'statistics']],
    ['rachel', 'Design Systems Strategy', 'design_analytics', BOTH],
  ])(
    '%s has role, focus and imports of its own, and the rules of strategic analysis',
    (name, role, focus, imports) => {
      const profiles = builtIn();
      const { blockedImports, limits, scopeMessage } = profiles.get('strategic');
      expect(profiles.get(name)).toMatchObject({
        lineage: [name, 'strategic'],
        templateVars: { persona: name, role },
        focus,
        defaultImports: imports,
        blockedImports,
        limits,
        scopeMessage,
      });
    },
  );

  test('there are five personas and five capabilities', () => {
    expect(builtIn().personas.map(({ name }) => name)).toEqual([
      'diego',
      'alvaro',
      'martin',
      'camille',
      'rachel',
    ]);
    expect(CAPABILITIES).toEqual([
      'strategic_data_analysis',
      'roi_calculations',
      'stakeholder_analytics',
      'performance_metrics',
      'executive_reporting',
    ]);
  });
});

describe('the profiles of a server', () => {
  test('what extends strategic analysis, however far back, and says who it is, is a persona', () => {
    const profiles = profilesOf(
      `profiles:
  a: {extends: diego}
  b: {extends: a}
  c: {extends: strategic, template_vars: {persona: c}}
  rules: {extends: strategic, template_vars: {role: none}}
  other: {extends: default, template_vars: {persona: other}}
`,
    );
    expect(profiles.personas.map(({ name }) => name).slice(5)).toEqual(['a', 'b', 'c']);
  });

  test.each([
    ['dieg', /There is no profile "dieg"\. Did you mean "diego"\? There are: default, strategic, diego/],
    ['DIEGO', /Did you mean "diego"/],
    ['something else', /There is no profile "something else"\. There are: default/],
    ['', /There is no profile ""/],
  ])('one that does not exist, %j, is told with those that do', (name, sentence) => {
    expect(() => builtIn().get(name)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(() => builtIn().get(name)).toThrow(sentence);
  });

  test('callers may use all, or those that are allowed', () => {
    const all = builtIn();
    expect(all.all.every(({ name }) => all.mayUse(name))).toBe(true);
    const some = builtIn({ allowedProfiles: ['diego', 'rachel'] });
    expect(some.usable.map(({ name }) => name)).toEqual(['diego', 'rachel']);
    expect(some.mayUse('default')).toBe(false);
    expect(() => some.get('nobody')).toThrow('There are: diego, rachel.');
    expect(builtIn({ allowedProfiles: [] }).usable).toEqual([]);
  });

  test.each([
    [{ defaultProfile: 'strategc' }, ['DEFAULT_PROFILE', '"strategc"', 'Did you mean "strategic"?']],
    [{ allowedProfiles: ['diego', 'nobody'] }, ['ALLOWED_PROFILES', '"nobody"', 'There are: default']],
  ])('settings that name others, %j, are refused', (settings, words) => {
    const message = refusalOf('profiles: {}', settings);
    for (const word of words) expect(message).toContain(word);
  });

  test('are those of profiles.yaml in the current folder, if no file is named', () => {
    const before = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), 'pungi-profiles-'));
    writeFileSync(join(folder, 'profiles.yaml'), 'profiles: {here: {}}');
    try {
      process.chdir(folder);
      const profiles = loadProfiles({ defaultProfile: 'here', allowedProfiles: ['*'] });
      expect(profiles.get('here').origin).toBe('profiles.yaml');
    } finally {
      process.chdir(before);
      rmSync(folder, { recursive: true });
    }
  });

  test('know how each came to its rules', () => {
    const profiles = profilesOf('profiles:\n  strategic: {extends: strategic}\n  a: {extends: diego}');
    const links = profiles
      .chain('a')
      .map(({ name, origin }) => `${name} ${origin === 'built-in' ? origin : 'file'}`);
    expect(links).toEqual(['a file', 'diego built-in', 'strategic file', 'strategic built-in']);
    expect(() => profiles.chain('nobody')).toThrow('There is no profile');
  });
});
