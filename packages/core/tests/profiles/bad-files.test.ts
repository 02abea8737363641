import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PungiError } from '../../src/base/errors.js';
import { ProfileDefinition } from '../../src/contract/profile.js';
import { loadProfiles } from '../../src/gate/profiles/load-profiles.js';
import { profilesOf, refusalOf } from './profiles-of.js';

const one = (rules: string) => `profiles:\n  one:\n    ${rules}\n`;
const chain = (length: number) =>
  `profiles:\n  p0: {}\n${Array.from({ length }, (_, index) => `  p${index + 1}: {extends: p${index}}\n`).join('')}`;
const BOMB = `a: &a [x, x]\n${[...'bcdefghijk'].map((name, index) => `${name}: &${name} [*${'abcdefghij'[index]}, *${'abcdefghij'[index]}]\n`).join('')}`;

/** What is wrong, the file, and what the sentence must say. */
const BAD: [what: string, file: string, ...words: string[]][] = [
  // the file as a whole
  ['nothing at all', '', 'must contain "profiles:"'],
  ['a list', '- one', 'must contain "profiles:"'],
  ['a word', 'hello', 'must contain "profiles:"'],
  ['no profiles', 'other: {}', 'must contain "profiles:"', 'line 1', 'other: is not known'],
  ['something beside the profiles', 'profiles: {}\nversion: 1', 'line 2', 'version: is not known'],
  ['profiles that are a list', 'profiles: [one]', 'profiles: must be a map'],
  ['profiles that are a word', 'profiles: one', 'profiles: must be a map'],
  // YAML itself
  ['an open bracket', 'profiles: [', 'not valid YAML'],
  ['a tab for indentation', 'profiles:\n\tone: {}', 'line 2', 'not valid YAML'],
  ['two documents', 'profiles: {}\n---\nprofiles: {}', 'line 2', 'not valid YAML', 'multiple documents'],
  ['the same profile twice', 'profiles:\n  one: {}\n  one: {}', 'line 3', 'unique'],
  ['the same key twice', one('focus: a\n    focus: b'), 'line 4', 'unique'],
  ['a tag of its own', one('focus: !env HOME'), 'line 3', 'Unresolved tag: !env'],
  ['a list as a key', 'profiles:\n  ? [a]\n  : {}', 'keys must be strings'],
  ['an alias', 'profiles:\n  a: &a {focus: x}\n  b: *a', 'line 3', 'aliases (*name) are not allowed'],
  ['an alias of nothing', one('focus: *x'), 'line 3'],
  ['a bomb of aliases', BOMB, 'aliases (*name) are not allowed'],
  ['a merge of an alias', 'profiles:\n  a: &a {focus: x}\n  b: {<<: *a}', 'aliases (*name) are not allowed'],
  ['deep brackets', `profiles: ${'['.repeat(100_000)}`, 'more than 32 levels'],
  ['deep braces', one(`templateVars: ${'{a: '.repeat(5000)}`), 'more than 32 levels'],
  [
    'brackets that a person may write, and nobody reads',
    one(`templateVars: {a: ${'['.repeat(40)}${']'.repeat(40)}}`),
    'more than 32',
  ],
  ['deep dashes', `${'- '.repeat(50_000)}1`, 'more than 32 levels'],
  ['too much of it', `profiles: {}\n# ${'x'.repeat(2 ** 20)}`, 'larger than 1048576 bytes'],
  // names
  ['a name with a space', 'profiles:\n  "my rules": {}', 'profile "my rules"', 'letters (A-Z, a-z), digits'],
  ['an empty name', 'profiles:\n  "": {}', 'letters (A-Z, a-z), digits'],
  ['a name like an option', 'profiles:\n  -x: {}', 'does not start with "-"'],
  ['a name that is a path', 'profiles:\n  ../a: {}', 'profile "../a"'],
  ['a long name', `profiles:\n  ${'x'.repeat(65)}: {}`, '1 to 64'],
  ['a name beyond ASCII', 'profiles:\n  müller: {}', 'profile "müller"'],
  // keys
  ['rules that are a number', 'profiles:\n  one: 5', 'profile "one"', 'must be a map of rules; it is 5'],
  ['rules that are a list', 'profiles:\n  one: [a]', 'must be a map of rules; it is ["a"]'],
  ['an unknown key', one('colour: red'), 'line 3, profile "one", colour: is not known', 'blocked_imports'],
  [
    'a key that is nearly right',
    one('alowed_imports: [os]'),
    'alowed_imports',
    'did you mean "allowed_imports"?',
  ],
  [
    'a key in both spellings',
    one('cache_ttl: 1\n    cacheTtl: 2'),
    'is given twice, as "cache_ttl" and as "cacheTtl"',
  ],
  ['a merge key', one('<<: {focus: x}'), '<<: is not known'],
  ['the key of all objects', one('__proto__: {focus: x}'), '__proto__: is not known'],
  // values
  ['a description that is a number', one('description: 5'), 'description: must be a text; it is 5'],
  ['imports that are no list', one('allowedImports: os'), 'allowedImports: must be a list; it is "os"'],
  [
    'an import that is no module',
    one('blocked_imports: [os, "os; rm"]'),
    'blocked_imports[1]',
    'it is "os; rm"',
  ],
  ['an import that is a number', one('allowedImports: [3]'), 'allowedImports[0]: must be a text; it is 3'],
  ['a module that ends in a dot', one('preload: [os.]'), 'preload[0]', 'must be a module'],
  [
    'an operation that is not known',
    one('blockedOperations: [files]'),
    'must be one of file, process, network, introspection',
  ],
  ['a builtin that is no name', one('blockedBuiltins: ["open("]'), 'blockedBuiltins[0]'],
  [
    'an output style that is not known',
    one('outputStyle: loud'),
    'must be one of full, brief, value; it is "loud"',
  ],
  ['a default import with code', one('default_imports: ["os; x"]'), 'must be "module" or "module as name"'],
  ['a lifetime below zero', one('cache_ttl: -1'), 'cache_ttl: must be at least 0; it is -1'],
  ['a lifetime with a unit', one('cacheTtl: 30m'), 'must be a number; it is "30m"'],
  ['half a second', one('cacheTtl: 0.5'), 'cacheTtl', 'it is 0.5'],
  ['a switch that is a word', one('disclosure: on'), 'must be true or false; it is "on"'],
  ['a limit of nothing', one('limits: {memoryMb: 0}'), 'limits.memoryMb: must be more than 0; it is 0'],
  ['an unknown limit', one('limits: {memory: 5}'), 'limits.memory: is not known; did you mean "memory_mb"?'],
  [
    'a limit that is a text',
    one('limits: {timeout_ms: "5"}'),
    'limits.timeout_ms: must be a number; it is "5"',
  ],
  ['a limit that is like none', one('limits: {colour: 5}'), 'limits.colour: is not known', 'timeout_ms'],
  ['limits that are a number', one('limits: 5'), 'limits: must be a map; it is 5'],
  ['an unknown network', one('network: all'), 'network: must be none or a map; it is "all"'],
  ['a network without hosts', one('network: {}'), 'network.allow: is missing; it must be a list'],
  [
    'a network with something else',
    one('network: {allow: [], deny: []}'),
    'network.deny: is not known',
    'allow',
  ],
  [
    'a host that is an address of a page',
    one('network: {allow: ["https://a.example/x"]}'),
    'without https://',
  ],
  ['a host that is everything', one('network: {allow: ["*"]}'), 'cannot be an allowed host'],
  ['an empty host', one('network: {allow: [""]}'), 'network.allow[0]: must not be empty'],
  ['a folder without a path', one('workspace: [{name: a}]'), 'workspace[0].path: is missing'],
  [
    'a folder with a path as its name',
    one('workspace: [{name: ../a, path: .}]'),
    'must be a plain folder name',
  ],
  [
    'a folder that may be written',
    one('workspace: [{name: a, path: ., mode: rw}]'),
    'workspace[0].mode: is not known',
  ],
  ['folders that are a text', one('workspace: ./data'), 'workspace: must be a list'],
  [
    'two folders of one name',
    one('workspace: [{name: a, path: x}, {name: a, path: y}]'),
    'two folders have the name "a"',
  ],
  [
    'a folder of the name that a parent gives another',
    'profiles:\n  one: {workspace: [{name: a, path: x}]}\n  two: {extends: one, workspace: [{name: a, path: y}]}',
    'profile "two"',
    'two folders have the name "a"',
  ],
  ['a variable that Python keeps', one('template_vars: {__builtins__: 1}'), 'without two underscores'],
  [
    'a variable that is no name',
    one('template_vars: {a-b: 1}'),
    'template_vars.a-b: must be a name of Python',
  ],
  [
    'a variable that is not a number',
    one('template_vars: {a: .nan}'),
    'template_vars.a: must be',
    'it is NaN',
  ],
  ['variables that are a list', one('template_vars: [a]'), 'template_vars: must be a map'],
  ['a context that Python keeps', one('context_variable: __name__'), 'without two underscores'],
  // parents
  ['an unknown parent', one('extends: nobody'), 'line 3', 'no profile "nobody"', 'default, strategic, diego'],
  ['a parent that is a list', one('extends: [a, b]'), 'extends: must be a text'],
  ['itself as a parent', one('extends: one'), 'in a circle: one extends one'],
  [
    'a circle of two',
    'profiles:\n  a: {extends: b}\n  b: {extends: a}',
    'a extends b extends a',
    'b extends a extends b',
  ],
  [
    'a circle that a built-in one is drawn into',
    'profiles:\n  strategic: {extends: diego}',
    'strategic extends diego extends strategic',
  ],
  ['a chain that is too long', chain(16), 'profile "p16"', 'at most 16'],
];

describe('a profiles file is refused, with its name, where it has', () => {
  test.each(BAD)('%s', (_, file, ...words) => {
    const message = refusalOf(file);
    expect(message).toContain('team.yaml cannot be ');
    for (const word of words) expect(message).toContain(word);
    expect(message).not.toMatch(/undefined|\[object|Invalid input|expected/);
  });

  test('a few faults, and all are told at once', () => {
    const message = refusalOf(
      'profiles:\n  a: {cacheTtl: x}\n  b: {extends: nobody}\n  c: {extends: a, network: {allow: ["*"]}}\n',
    );
    for (const part of ['cacheTtl', 'nobody', 'cannot be an allowed host']) expect(message).toContain(part);
    expect(message).not.toContain('no profile "a"');
  });

  test('many faults, and it is told how many, the first ones, and where to see all', () => {
    const message = refusalOf(
      `profiles:\n${Array.from('abcde', (name) => `  ${name}: {colour: red}\n`).join('')}`,
    );
    expect(message).toMatch(/5 problems; see: pungi profile check \S+team\.yaml/);
    expect(message.match(/is not known/g)).toHaveLength(3);
  });

  test('bytes that are no text', () => {
    expect(refusalOf(Buffer.from([0xff, 0xfe, 0x00, 0x01, 0x80]))).toContain('team.yaml');
  });
});

test('values may be as deep as people write them', () => {
  const text = one(`templateVars: {a: ${'['.repeat(20)}${']'.repeat(20)}}`);
  expect(JSON.stringify(profilesOf(text).get('one').templateVars)).toContain('['.repeat(20));
});

test('a chain that is just short enough is not too long', () => {
  expect(profilesOf(chain(15)).get('p15').lineage).toHaveLength(16);
});

test.each([
  ['is missing', () => join(import.meta.dirname, 'none.yaml'), 'there is no such file'],
  ['is a folder', () => import.meta.dirname, 'it is a folder'],
  ['never ends', () => '/dev/zero', 'not a regular file'],
])('a file that %s is named', (_, path, words) => {
  const load = () =>
    loadProfiles({ profilesFile: path(), defaultProfile: 'default', allowedProfiles: ['*'] });
  expect(load).toThrow(words);
  expect(load).toThrow(path());
});

describe('whatever a file holds, it is profiles or a PungiError', () => {
  const never = (text: string) => {
    try {
      profilesOf(text);
    } catch (error) {
      expect(error).toBeInstanceOf(PungiError);
      expect((error as PungiError).code).toBe('CONFIGURATION_ERROR');
    }
  };

  test('any text', () => fc.assert(fc.property(fc.string({ unit: 'binary' }), never)));

  test('any text of the letters that mean something to YAML', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'[]{}:,-?&*!|>\'"%@`# \n\tab') }), never));
  });

  test('any values for any keys', () => {
    const keys = [...Object.keys(ProfileDefinition.shape), 'cache_ttl', '__proto__', 'constructor', '', 'x'];
    const values = fc.jsonValue({ maxDepth: 4 });
    const rules = fc.dictionary(fc.constantFrom(...keys), values);
    const names = fc.constantFrom('a', 'b', 'strategic', 'default', '__proto__', 'constructor', 'toString');
    fc.assert(
      fc.property(fc.dictionary(names, fc.oneof(rules, values)), (profiles) =>
        never(JSON.stringify({ profiles })),
      ),
    );
  });
});
