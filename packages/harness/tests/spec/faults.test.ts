// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadSpecification } from '../../src/spec/load.js';
import { faultsOf, load, loadFiles, SERVER, tests, warningsOf } from './specs.js';

const one = (rest: string) => tests(`- name: t\n${rest.replace(/^(?=.)/gm, '  ')}`);

/** What follows after "name: s" and the server, and all that is said about it. Tests begin in line 6. */
const BAD: [what: string, text: string, ...said: string[]][] = [
  // keys and values
  [
    'a choice that there is not',
    'test_config: {}\nscript_config: {scripts: [{name: a, source: x, execution_phase: aftr}]}',
    '4:65: script_config.scripts[0].execution_phase must be one of before, after, both; it is "aftr" (did you mean "after"?)',
  ],
  [
    'a text for a number',
    'test_config: {timeout_seconds: soon}',
    '3:32: test_config.timeout_seconds must be a number; it is "soon"',
  ],
  [
    'a number that is too large',
    'test_config: {max_concurrency: 1000}',
    'test_config.max_concurrency must be at most 256; it is 1000',
  ],
  [
    'a name that is missing',
    tests('- input: {}'),
    '6:9: tools[0].tests[0].name is missing; it must be a text',
  ],
  [
    'tests that are no list',
    'tools:\n  - name: add\n    tests: {}',
    '5:5: tools[0].tests must be a list; it is {}',
  ],
  ['a test that is a word', tests('- hello'), '6:9: tools[0].tests[0] must be a map; it is "hello"'],
  [
    'a step of two kinds',
    'setup:\n  - {tool: a, prompt: b}',
    '4:5: setup[0] is not complete: give exactly one of tool, resource and prompt',
  ],
  [
    'a script without code',
    'validation_scripts:\n  - name: a',
    'validation_scripts[0] is not complete: give either source or file',
  ],
  // what only looks right
  [
    'a path without $',
    one('expected: {fields: [{path: "content[0].text"}]}'),
    '7:36: tools[0].tests[0].expected.fields[0].path is not a JSONPath: it must begin with $; it is "content[0].text" (did you mean "$.content[0].text"?)',
  ],
  [
    'a path that is broken',
    one('expected: {fields: [{path: "$.a[?"}]}'),
    'is not a JSONPath: it ends too early; it is "$.a[?"',
  ],
  [
    'a path that goes wrong',
    one('expected: {snapshot_ignore: ["$.a b"]}'),
    'expected.snapshot_ignore[0] is not a JSONPath: it cannot be read from "b" on',
  ],
  [
    'a pattern that is none',
    one('expected: {text_pattern: "a("}'),
    'expected.text_pattern is not a regular expression: unterminated group; it is "a("',
  ],
  [
    'a pattern of a field',
    one('expected: {fields: [{path: $.a, pattern: "[z-a]"}]}'),
    'fields[0].pattern is not a regular expression: range out of order in character class',
  ],
  [
    'two types',
    one('expected: {fields: [{path: $.a, type: string, field_type: number}]}'),
    'fields[0].type is string, but field_type is number',
  ],
  [
    'bounds the wrong way around',
    one('expected: {progress: {min: 3, max: 1}, fields: [{path: $, min_length: 2, max_length: 1}]}'),
    'expected.progress is greater than the maximum: 3 and 1',
    'min_length is greater than',
  ],
  [
    'a schema that is none',
    one('expected: {schema: {type: objekt}}'),
    '7:20: tools[0].tests[0].expected.schema is not a JSON Schema: data/type must be equal to one of the allowed values',
  ],
  [
    'a schema that refers to nowhere',
    one('expected: {schema: {$ref: "http://example.com/x"}}'),
    "expected.schema is not a JSON Schema: can't resolve reference http://example.com/x",
  ],
  [
    'a schema that is not there',
    one('expected: {schema_file: x.json}'),
    '7:33: tools[0].tests[0].expected.schema_file names x.json, which cannot be read: there is no such file',
  ],
  [
    'a schema of a tool that is not there',
    'tools:\n  - {name: a, input_schema: x.json}',
    '4:29: tools[0].input_schema names x.json, which cannot be read',
  ],
  [
    'a schema of a tool that is none',
    'tools:\n  - {name: a, output_schema: {type: 3}}',
    'tools[0].output_schema is not a JSON Schema',
  ],
  [
    'arguments that are a list',
    one('input: [1]'),
    '7:9: tools[0].tests[0].input must be a map, the arguments of the tool; it is [1]',
  ],
  [
    'a capture with an odd name',
    one('capture: {"a b": $.x}'),
    'tools[0].tests[0].capture["a b"] is not a valid variable name',
  ],
  [
    'a capture with an odd path',
    'setup: [{tool: a, capture: {x: id}}]',
    '3:32: setup[0].capture.x is not a JSONPath: it must begin with $; it is "id" (did you mean "$.id"?)',
  ],
  // names
  [
    'two tests of one name',
    tests('- name: t\n- name: t'),
    '7:15: tools[0].tests[1].name is already the name of another test of add, in line 6',
  ],
  [
    'a script that there is not',
    `validation_scripts: [{name: check, source: x}]\n${one('validation_scripts: [chek]')}`,
    '8:30: tools[0].tests[0].validation_scripts[0] names an unknown validation script: "chek" (did you mean "check"?)',
  ],
  [
    'two scripts of one name',
    'validation_scripts: [{name: a, source: x}, {name: a, source: y}]',
    'validation_scripts[1].name is already the name of another script: "a"',
  ],
  [
    'a script whose file is not there',
    'validation_scripts: [{name: a, file: a.py}]',
    '3:38: validation_scripts[0].file names a.py, which cannot be read: there is no such file',
  ],
  [
    'a dependency that there is not',
    tests('- name: first\n- {name: t, depends_on: [frist]}'),
    'depends_on[0] names an unknown test: "frist" (did you mean "first"?)',
  ],
  ['a dependency on itself', tests('- {name: t, depends_on: [t]}'), 'depends_on[0] depends on itself'],
  [
    'a circle',
    tests('- {name: a, depends_on: [b]}\n- {name: b, dependencies: [a]}'),
    'tests depend on each other in a cycle: "tool/add/a" depends on "tool/add/b" depends on "tool/add/a"',
  ],
  [
    'a name of two tests',
    'tools:\n  - {name: a, tests: [{name: t}]}\n  - {name: b, tests: [{name: t}]}\n  - {name: c, tests: [{name: u, depends_on: [t]}]}',
    'depends_on[0] names several tests: "t" (use the full name: "tool/a/t" or "tool/b/t")',
  ],
  // variables
  [
    'a variable that there is not',
    `variables: {count: 1}\n${one('input: {a: "x ${coutn}"}')}`,
    '8:20: tools[0].tests[0].input.a uses ${coutn}, but there is no such variable or capture (did you mean "count"?)',
  ],
  [
    'a variable of a shell',
    one('input: {a: "${HOME}"}'),
    'uses ${HOME}, but there is no such variable or capture (for the literal text, write $${HOME})',
  ],
  [
    'an environment variable that is not set',
    one('input: {a: "${env:TOKEN}"}'),
    'uses ${env:TOKEN}, but the environment variable TOKEN is not set (set it, or give a default: ${env:TOKEN:-…})',
  ],
  [
    'a part that a variable does not have',
    `variables: {user: {id: 1}}\n${one('input: {a: "${user.nam}"}')}`,
    'uses ${user.nam}, but the variable "user" has no such part',
  ],
  [
    'a capture in a name',
    tests('- {name: a, capture: {id: $.id}}\n- name: "b ${id}"'),
    '7:15: tools[0].tests[1].name uses ${id}, which is captured while tests run, but this must be known before',
  ],
  [
    'a capture for a number',
    tests('- {name: a, capture: {n: $.n}}\n- {name: b, cancel_after_ms: "${n}"}'),
    'cancel_after_ms must be a number; it is "${n}" (a captured value is allowed only where text or any value is)',
  ],
  [
    'a variable of the wrong type',
    `variables: {n: many}\n${one('cancel_after_ms: "${n}"')}`,
    'cancel_after_ms must be a number; it is "many"',
  ],
  [
    'variables in a circle',
    'variables:\n  a: ${b}\n  b: ${a}',
    '4:3: variables.a refers to itself: a uses b uses a',
    '5:3: variables.b refers to itself: b uses a uses b',
  ],
  ['a variable that uses nothing', 'variables:\n  a: ${nope}', '4:6: variables.a uses ${nope}'],
  ['a completion of a tool', one('complete: a'), '7:19: tools[0].tests[0].complete is only for prompts'],
  // matrices
  [
    'a matrix without values',
    one('matrix: {a: []}'),
    'tools[0].tests[0].matrix.a must have at least 1 items',
  ],
  [
    'a matrix without end',
    one(`matrix: {${['a', 'b', 'c', 'd'].map((name) => `${name}: [1,2,3,4,5,6,7]`).join(', ')}}`),
    '7:9: tools[0].tests[0].matrix makes more than 1000 tests',
  ],
  // several at once
  [
    'what is wrong in different ways',
    one('expected: {text_pattern: "(", schema_file: x.json}'),
    'text_pattern is not',
    'schema_file names x.json',
  ],
];

test.each(BAD)('%s', (_, text, ...said) => {
  const found = faultsOf(load(text));
  for (const [index, sentence] of said.entries()) expect(found[index] ?? '').toContain(sentence);
  expect(found).toHaveLength(said.length);
  for (const line of found) expect(line).toMatch(/^spec\.yaml:\d+:\d+: /);
});

/** Keys that are not known, and what is said about them. */
const IGNORED: typeof BAD = [
  ['a misspelt key', 'toolz: []', '3:1: warning: toolz is not known and is ignored (did you mean "tools"?)'],
  [
    'a key in another spelling',
    one('dependsOn: []'),
    '7:9: warning: tools[0].tests[0].dependsOn is not known and is ignored (did you mean "depends_on"?)',
  ],
  [
    'a longer key in another spelling',
    one('expected: {maxExecutionTimeMs: 3}'),
    'maxExecutionTimeMs is not known and is ignored (did you mean "max_execution_time_ms"?)',
  ],
  [
    'the beginning of a key',
    one('performance: {max_duration: 3}'),
    '7:23: warning: tools[0].tests[0].performance.max_duration is not known and is ignored (did you mean "max_duration_ms"?)',
  ],
  [
    'a key of another place',
    one('max_memory_mb: 3'),
    '7:9: warning: tools[0].tests[0].max_memory_mb is not known and is ignored (it belongs in "performance")',
  ],
  [
    'a key of nothing',
    'metadata: {x: 1}\nbanana: 1',
    '4:1: warning: banana is not known and is ignored (known: $schema, name, version',
  ],
  [
    'a key in every row is told once',
    one('matrix: {a: [1, 2]}\nexpected: {txt: 1}'),
    '8:20: warning: tools[0].tests[0].expected.txt is not known and is ignored',
  ],
  ['a variable in the server', 'variables: {x: "${env:NOPE}"}\nname2: ${x}', 'name2'],
];

test.each(IGNORED)('%s is ignored with a warning', (_, text, ...said) => {
  const result = load(text);
  expect(faultsOf(result)).toEqual([]);
  const found = warningsOf(result);
  for (const [index, sentence] of said.entries()) expect(found[index] ?? '').toContain(sentence);
  expect(found).toHaveLength(said.length);
});

/** The whole file, and what is said. */
const FILES: [what: string, text: string, said: string][] = [
  ['nothing', '', 'spec.yaml: the file is empty; "pungi test init" writes a first specification'],
  ['a list', '- a', 'spec.yaml:1:1: must be a map; it is ["a"]'],
  ['a key twice', 'name: a\nname: b', 'spec.yaml:2:1: it is not valid YAML: Map keys must be unique'],
  [
    'an open bracket',
    'name: [a',
    'spec.yaml:1:9: it is not valid YAML: Flow sequence in block collection must be',
  ],
  [
    'an alias of nothing',
    'name: *a',
    'it is not valid YAML: Unresolved alias (the anchor must be set before the alias): a',
  ],
  [
    'brackets without end',
    `name: ${'['.repeat(10_000)}`,
    'spec.yaml: it is nested more than 128 levels deep',
  ],
  [
    'no server',
    'name: a',
    'spec.yaml:1:1: server is missing; add a command that starts the server, or its url',
  ],
  ['a server that is nowhere', 'name: a\nserver: {}', 'server is not complete: give a command or a url'],
  ['JSON with a comma too many', '{"name": "a", "server": {"command": "x"},, }', 'not valid YAML'],
];

test.each(FILES)('a file that holds %s', (_, text, said) => {
  expect(faultsOf(loadFiles({ 'spec.yaml': text }))[0]).toContain(said);
});

test('files that are not there, or not what they should be', () => {
  const { folder } = loadFiles({ 'a.yaml': '' });
  const missing = loadSpecification(join(folder, 'nope.yaml'), { environment: {} });
  expect(faultsOf({ ...missing, folder })).toEqual([
    'nope.yaml: the specification cannot be read: there is no such file',
  ]);
  const expected = (file: string) => one(`expected: {schema_file: ${file}}`);
  const result = loadFiles({
    'main.yaml': `name: a\nincludes: [x, nope.yaml]\n${SERVER}${expected('bad.yaml')}`,
    'x/y.yaml': '',
    'bad.yaml': 'a: [',
  });
  expect(faultsOf(result)).toEqual([
    'main.yaml:2:12: includes[0] cannot be read: it is a folder',
    'main.yaml:2:15: includes[1] cannot be read: there is no such file',
    expect.stringContaining('schema_file names bad.yaml, which cannot be used: it is not valid YAML'),
  ]);
  for (const [text, said] of [
    ['3', 'expected a map'],
    ['{type: 3}', 'data/type'],
  ])
    expect(
      faultsOf(loadFiles({ 'm.yaml': `name: a\n${SERVER}${expected('s.yaml')}`, 's.yaml': text! }))[0],
    ).toContain(said);
});

test('a bomb of aliases is refused', () => {
  const bomb = [...'bcdefghij'].map(
    (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghi'[index]}`).join(', ')}]`,
  );
  const found = faultsOf(load(`metadata:\n  a: &a [x]\n  ${bomb.join('\n  ')}`));
  expect(found).toEqual([expect.stringContaining('Excessive alias count')]);
});

test('whatever a specification holds, it is loaded or its faults are told', () => {
  const keys = fc.constantFrom(
    'name',
    'server',
    'tools',
    'tests',
    'expected',
    'fields',
    'path',
    'input',
    'matrix',
    'capture',
    'setup',
    'variables',
    'includes',
    'resources',
    'x',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 6 },
      fc.constantFrom('${a}', '${env:B}', '$.a', 'x', 1, true, null, []),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, value, (tools, rest) => {
      const spec = { name: 'a', server: { command: 'x' }, tools, ...(rest as object) };
      const { faults, loaded } = loadFiles({ 'spec.json': JSON.stringify(spec) });
      expect((faults === undefined) !== (loaded === undefined)).toBe(true);
    }),
    { numRuns: 100 },
  );
});
