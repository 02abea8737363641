// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishServer, finishStep, finishTest, plan } from '../../src/spec/plan.js';
import { faultsOf, load, loaded, loadFiles, SERVER, tests, warningsOf } from './specs.js';

const scope = (captured: Record<string, unknown>) => ({ variables: [], captured, environment: {} });

test('a specification in the format of the harness that it comes from is read with its defaults', () => {
  const { specification, tests: planned } = loaded(
    tests(`- name: integer_addition
  description: Test integer addition
  input: {a: 42, b: 58}
  expected:
    error: false
    fields:
      - {path: "$[0].text", contains: "100", required: true}
  performance: {max_duration_ms: 50}
  tags: [math]
- name: after
  skip: true
  depends_on: [integer_addition]`),
  );
  expect(specification.test_config).toMatchObject({
    timeout_seconds: 60,
    max_concurrency: 4,
    fail_fast: false,
  });
  expect(planned).toMatchObject([
    {
      id: 'tool/add/integer_addition',
      kind: 'tool',
      target: 'add',
      dependsOn: [],
      origin: { position: { line: 6, column: 9 } },
    },
    { id: 'tool/add/after', dependsOn: ['tool/add/integer_addition'], skip: 'skipped by the specification' },
  ]);
});

test('JSON, anchors and merges are read as well', () => {
  const json = loadFiles({
    'spec.json': JSON.stringify({
      name: 'a',
      server: { url: 'http://x' },
      tools: [{ name: 'b', tests: [{ name: 'c' }] }],
    }),
  });
  expect(json.loaded?.tests).toHaveLength(1);
  const merged = loaded(tests('- &base {name: a, input: {x: 1}}\n- {<<: *base, name: b}'));
  expect(merged.tests[1]?.test.input).toEqual({ x: 1 });
});

test('what is included brings its tests, scripts, steps and variables; the file itself has the last word', () => {
  const result = loadFiles({
    'main.yaml': `name: main\nincludes: [parts/a.yaml, parts/b.yaml]\nvariables: {n: 2}\nsetup: [{tool: mine}]\ncleanup: [{tool: mine}]\n${tests('- {name: t, input: {n: "${n}", m: "${m}"}, validation_scripts: [check]}')}`,
    'parts/a.yaml': `name: a\nincludes: [b.yaml]\nserver: {command: node, working_dir: here}\nvariables: {n: 1, m: 3}\nsetup: [{tool: first}]\ncleanup: [{tool: first}]\nvalidation_scripts: [{name: check, file: check.py}]\n${tests('- {name: u, input: {n: "${n}"}, expected: {schema_file: s.json}}')}`,
    'parts/b.yaml': 'name: b\ncapabilities: {tools: true}\n',
    'parts/check.py': 'assert True\n',
    'parts/s.json': '{"type": "object"}',
  });
  expect(faultsOf(result)).toEqual([]);
  const { specification, tests: planned } = result.loaded!;
  expect(specification.name).toBe('main');
  expect(specification.server).toMatchObject({
    command: 'node',
    working_dir: join(result.folder, 'parts/here'),
  });
  expect(specification.capabilities).toEqual({ tools: true });
  expect(specification.setup.map(({ tool }) => tool)).toEqual(['first', 'mine']);
  expect(specification.cleanup.map(({ tool }) => tool)).toEqual(['mine', 'first']);
  expect(planned.map(({ id, test }) => [id, test.input])).toEqual([
    ['tool/add/u', { n: 2 }],
    ['tool/add/t', { n: 2, m: 3 }],
  ]);
  expect(planned[0]?.schemas).toEqual([{ from: 's.json', schema: { type: 'object' } }]);
  expect(planned[1]?.scripts).toMatchObject([
    { name: 'check', source: 'assert True\n', required: true, execution_phase: 'after' },
  ]);
  expect(result.files.map((file) => file.slice(result.folder.length + 1)).sort()).toEqual([
    'main.yaml',
    'parts/a.yaml',
    'parts/b.yaml',
    'parts/check.py',
    'parts/s.json',
  ]);
});

test('files that include each other, and rows of includes that never end', () => {
  const circle = loadFiles({
    'a.yaml': `name: a\nincludes: [b.yaml]\n${SERVER}`,
    'b.yaml': 'name: b\nincludes: [a.yaml]\n',
  });
  expect(faultsOf(circle)).toEqual([
    expect.stringMatching(
      /^b\.yaml:2:12: includes\[0\] includes itself: a\.yaml includes b\.yaml includes a\.yaml$/,
    ),
  ]);
  const row = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [
      `f${index}.yaml`,
      `name: a\nincludes: [f${index + 1}.yaml]\n${SERVER}`,
    ]),
  );
  expect(faultsOf(loadFiles(row))).toEqual([
    expect.stringContaining('exceeds the limit of 200 included files, nested 8 deep'),
  ]);
});

test('a fault in an included file is told with its own place', () => {
  const result = loadFiles({
    'a.yaml': `name: a\nincludes: [b.yaml]\n${SERVER}nam: 1\n`,
    'b.yaml': 'name: b\n\nserver: {comand: x}\n',
  });
  expect(faultsOf(result)).toEqual(['b.yaml:3:1: server is not complete: give a command or a url']);
  expect(warningsOf(result)).toEqual([
    'a.yaml:4:1: warning: nam is not known and is ignored (did you mean "name"?)',
    'b.yaml:3:10: warning: server.comand is not known and is ignored (did you mean "command"?)',
  ]);
});

test('texts that are put in where only a text can stand become one', () => {
  const text = `variables: {n: 5}\n${tests('- {name: "${n}", tags: ["${n}"], capture: {id: $.id}, expected: {text_contains: "${n}"}}\n- {name: b, expected: {text_pattern: "${id}"}}')}`;
  const { loaded: result } = loadFiles({
    's.yaml': `name: s\nserver: {command: node, args: ["\${n}"], env: {N: "\${n}"}, startup_timeout_seconds: "\${n}"}\n${text}`,
  });
  expect(result?.specification.server).toMatchObject({
    args: ['5'],
    env: { N: '5' },
    startup_timeout_seconds: 5,
  });
  expect(result?.tests[0]).toMatchObject({
    name: '5',
    test: { tags: ['5'], expected: { text_contains: '5' } },
  });
  expect(finishTest(result!.tests[1]!, scope({ id: 7 })).value.test.expected.text_pattern).toBe('7');
});

test('a matrix makes a test of each combination, and its values keep their types everywhere', () => {
  const { tests: planned, specification } = loaded(
    tests(`- name: adds
  matrix: {case: [{a: 1, sum: 2}, {a: 2, sum: 4}], tag: [x]}
  tags: ["\${tag}"]
  input: {a: "\${case.a}", note: "is \${case.a}"}
  expected: {fields: [{path: $.sum, value: "\${case.sum}", min: "\${case.sum}"}]}
- {name: after, depends_on: [adds]}`),
  );
  expect(planned.map(({ id }) => id)).toEqual([
    'tool/add/adds [case={"a":1,"sum":2}, tag=x]',
    'tool/add/adds [case={"a":2,"sum":4}, tag=x]',
    'tool/add/after',
  ]);
  expect(planned[1]?.test).toMatchObject({
    tags: ['x'],
    input: { a: 2, note: 'is 2' },
    expected: { fields: [{ value: 4, min: 4 }] },
  });
  expect(planned[2]?.dependsOn).toHaveLength(2);
  expect(specification.tools[0]?.tests).toHaveLength(3);
});

test('rows that look the same have ids of their own', () => {
  const long = 'x'.repeat(50);
  const { tests: planned } = loaded(tests(`- {name: t, matrix: {a: [${long}1, ${long}2]}}`));
  expect(new Set(planned.map(({ id }) => id)).size).toBe(2);
});

test('variables come from the nearest place, the environment, or a default', () => {
  const text = `variables: {a: outer, b: "\${a}!", list: [1]}\n${tests(`- name: t
  variables: {a: inner}
  input: {a: "\${a}", b: "\${b}", c: "\${env:C}", d: "\${nope:-5}", e: "\${env:NOPE:-x y}", f: "\${list}", g: "n=\${list}", h: "$\${a}"}`)}`;
  const [planned] = loaded(text, { environment: { C: 'see ${a}' }, variables: { list: [2] } }).tests;
  const { value } = finishTest(planned!, scope({}));
  expect(value.test.input).toEqual({
    a: 'inner',
    b: 'inner!',
    c: 'see ${a}',
    d: 5,
    e: 'x y',
    f: [2],
    g: 'n=[2]',
    h: '${a}',
  });
});

test('what is captured is put in last, as it is, and makes a test depend on the one that captures it', () => {
  const { tests: planned } = loaded(
    `${tests(`- {name: uses, input: {id: "\${id}", text: "id \${id}"}, expected: {text_pattern: "^\${id}$", expression: "'\${id}' in text"}}
- {name: makes, capture: {id: $.id}}
- {name: default, input: {id: "\${id:-7}"}}`)}`,
  );
  expect(planned.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
    ['makes', []],
    ['uses', ['tool/add/makes']],
    ['default', []],
  ]);
  const evil = '${env:TOKEN} (a+)';
  const { value, missing } = finishTest(planned[1]!, {
    ...scope({ id: evil }),
    environment: { TOKEN: 'secret' },
  });
  expect(missing).toEqual([]);
  expect(value.test.input).toEqual({ id: evil, text: `id ${evil}` });
  expect(value.test.expected.text_pattern).toBe('^\\$\\{env:TOKEN\\} \\(a\\+\\)$');
  expect(value.test.expected.expression).toBe("'${id}' in text");
  expect(finishTest(planned[1]!, scope({})).missing.map(({ name }) => name)).toEqual(['id', 'id', 'id']);
  expect(finishTest(planned[2]!, scope({})).value.test.input).toEqual({ id: 7 });
});

test('what steps capture before all tests, or a test for itself, needs no other test', () => {
  const { tests: planned, specification } = loaded(
    `setup: [{tool: a, capture: {id: $.id}}, {tool: b, input: {id: "\${id}"}}]\n${tests('- {name: t, input: {id: "${id}", own: "${own}"}, setup: [{tool: c, capture: {own: $.x}}]}\n- {name: u, capture: {id: $.id, own: $.x}}')}`,
  );
  expect(planned.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([
    ['t', []],
    ['u', []],
  ]);
  expect(finishStep(specification.setup[1]!, scope({ id: 3 })).value.input).toEqual({ id: 3 });
});

test('a capture has the last word about a variable, which stands in until then', () => {
  const { tests: planned, specification } = loaded(
    `variables: {id: 0}\nsetup: [{tool: a, capture: {id: $.id}}]\n${tests('- {name: t, input: {id: "${id}"}, expected: {schema: {const: "${id}"}}}')}`,
  );
  const variables = [specification.variables];
  const before = finishTest(planned[0]!, { ...scope({}), variables }).value;
  expect([before.test.input, before.schemas]).toEqual([
    { id: 0 },
    [{ from: 'schema', schema: { const: 0 } }],
  ]);
  expect(finishTest(planned[0]!, { ...scope({ id: 9 }), variables }).value.schemas).toEqual([
    { from: 'schema', schema: { const: 9 } },
  ]);
});

test('the port of a server is chosen when it starts', () => {
  const { loaded: result } = loadFiles({
    's.yaml':
      'name: a\nserver: {command: node, args: ["--port", "${port}"], url: "http://127.0.0.1:${port}/mcp", transport: http}\n',
  });
  expect(finishServer(result!.specification.server!, 4711)).toMatchObject({
    args: ['--port', '4711'],
    url: 'http://127.0.0.1:4711/mcp',
  });
});

test('schemas that tools must advertise are read, and scripts can be turned off', () => {
  const result = loadFiles({
    's.yaml': `name: a\n${SERVER}script_config: {enabled: false, scripts: [{name: x, source: "1"}]}\ntools:\n  - {name: t, input_schema: in.yaml, tests: [{name: a, validation_scripts: [x]}]}\n`,
    'in.yaml': 'type: object\n',
  });
  expect(faultsOf(result)).toEqual([]);
  expect(result.loaded?.specification.tools[0]?.input_schema).toEqual({ type: 'object' });
  expect(result.loaded?.tests[0]?.scripts).toEqual([]);
});

test('tests are chosen by tags, by a part of their id or a pattern, and by only; what they depend on comes along', () => {
  const all = loaded(
    tests(
      '- {name: base}\n- {name: Fast one, tags: [fast], depends_on: [base]}\n- {name: slow one, tags: [slow, fast]}\n- {name: other}',
    ),
  ).tests;
  const names = (...given: Parameters<typeof plan>) => plan(...given).map(({ name }) => name);
  expect(names(all)).toEqual(['base', 'Fast one', 'slow one', 'other']);
  expect(names(all, { tags: ['fast'] })).toEqual(['base', 'Fast one', 'slow one']);
  expect(names(all, { tags: ['fast', '!slow'] })).toEqual(['base', 'Fast one']);
  expect(names(all, { tags: ['!fast'] })).toEqual(['base', 'other']);
  expect(names(all, { filter: 'fast ONE' })).toEqual(['base', 'Fast one']);
  expect(names(all, { filter: '/(slow|other)/' })).toEqual(['slow one', 'other']);
  expect(names(all, { filter: 'nothing' })).toEqual([]);
  const only = loaded(tests('- {name: a}\n- {name: b, only: true}')).tests;
  expect(names(only)).toEqual(['b']);
});

test('a dependency means a test of the same tool, where there is one of that name', () => {
  const text =
    'tools:\n  - {name: a, tests: [{name: t}]}\n  - {name: b, tests: [{name: t}, {name: u, depends_on: [t]}]}\n';
  expect(loaded(text).tests.at(-1)?.dependsOn).toEqual(['tool/b/t']);
});

test('dependencies may name a test of another tool', () => {
  const { tests: planned } = loaded(
    'tools:\n  - {name: a, tests: [{name: t, depends_on: [b/t]}]}\n  - {name: b, tests: [{name: t}]}\n',
  );
  expect(planned.map(({ id }) => id)).toEqual(['tool/b/t', 'tool/a/t']);
});

test('a dependency on a test that is wrong itself is not told', () => {
  expect(
    faultsOf(load(tests('- {name: a, tags: 3, skip: []}\n- {name: b, depends_on: [a]}'))).every(
      (line) => !line.includes('depends_on'),
    ),
  ).toBe(true);
});
