import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { faultText } from '../../src/spec/fault.js';
import { loadSpecification } from '../../src/spec/load.js';
import { load, tests, warningsOf } from './specs.js';

/** Specifications of the shapes that are published for the harness of that name, in words of our own. */
const folder = join(import.meta.dirname, '../../../../tests/fixtures/mandrel');
const loadFixture = (name: string) => {
  const result = loadSpecification(join(folder, name), { environment: {} });
  return { ...result, folder: dirname(join(folder, name)) };
};

/** What each of them is warned about; nothing else may be said. */
const WARNINGS: Record<string, string[]> = {
  'empty-suite.yaml': [],
  'connection-failure.yaml': [],
  'fields-and-dependencies.yaml': [],
  'focus-areas.yaml': ['42:1: warning: kiosk_focus_areas is not known and is ignored'],
  'resources-and-prompts.yaml': [
    '35:11: warning: resources[0].tests[1].expected.subscription_expected is not known and is ignored',
    '36:11: warning: resources[0].tests[1].expected.update_interval_seconds is not known and is ignored',
  ],
  'lua-scripts.yaml': [
    '15:15: warning: validation_scripts[0].language is "lua", so the script "price_validator" is skipped (only Python scripts are run)',
    '23:15: warning: validation_scripts[1].language is "lua", so the script "mood_validator" is skipped',
  ],
  'python-and-javascript-scripts.yaml': [
    'validation_scripts[1].language is "javascript", so the script "shape" is skipped',
  ],
  'security-constraints.yaml': [
    'expected.security_constraints is not checked by Pungi and is ignored (check it with a validation script)',
    'expected.performance_tests is not checked by Pungi and is ignored',
    'expected.error_injection_tests is not checked by Pungi and is ignored',
    'expected.expected_errors is not checked by Pungi and is ignored',
  ],
  'older-names.yaml': [
    '25:5: warning: tools[0].test_cases is not known and is ignored',
    'error_handling is not known and is ignored',
    'performance_testing is not known and is ignored',
    'success_criteria is not known and is ignored',
    'documentation is not known and is ignored',
  ],
  'error-tests.yaml': [
    '33:5: warning: error_tests[2] does not name a tool, so it is not run (add tool: next to name:)',
  ],
  'advanced-configuration.yaml': [
    'script_config.security.allow_network is not granted: validation scripts have no network',
    'test_config.progress_notifications is not known and is ignored',
    'test_config.transport_tests is not known and is ignored',
  ],
  'nulls.yaml': [],
};

test('every fixture is in the table', () => {
  expect(readdirSync(folder).filter((name) => name.endsWith('.yaml'))).toEqual(
    Object.keys(WARNINGS).toSorted(),
  );
});

test.each(Object.entries(WARNINGS))('%s is loaded as it is', (name, said) => {
  const result = loadFixture(name);
  expect(result.faults?.map(faultText) ?? []).toEqual([]);
  const found = warningsOf(result);
  for (const [index, sentence] of said.entries()) expect(found[index] ?? '').toContain(sentence);
  expect(found).toHaveLength(said.length);
  for (const line of found) expect(line).toMatch(/^[\w-]+\.yaml:\d+:\d+: warning: /);
});

test.each([
  ['circular-dependencies.yaml', 'tests depend on each other in a cycle'],
  ['missing-dependencies.yaml', 'names an unknown test: "absent"'],
  ['resource-without-template.yaml', 'resources[0].uri_template is missing'],
])('%s is refused', (name, said) => {
  expect(loadFixture(`wrong/${name}`).faults?.map(faultText).join('\n')).toContain(said);
});

test('error_tests are tests of tools that expect an error', () => {
  const planned = loadFixture('error-tests.yaml').loaded?.tests.map(({ id, test }) => [
    id,
    test.input,
    test.expected,
  ]);
  expect(planned).toMatchObject([
    ['tool/sell/sells', { item: 'tea' }, { error: false }],
    ['tool/no_such_tool/unknown_tool', {}, { error: true, error_code: -32601 }],
    ['tool/sell/no_item', { item: null }, { error: true, error_message_contains: 'item' }],
  ]);
});

test.each([
  ['error_tests: soon', '3:1: warning: error_tests is not a list, so it is not run'],
  ['error_tests: [3]', '3:15: warning: error_tests[0] does not name a tool'],
  ['error_tests: [{name: a, input: {tool: b, item: 1}}]', '3:15: warning: error_tests[0] does not name'],
])('%s is warned about and not run', (text, said) => {
  const result = load(text);
  expect(result.loaded?.tests).toEqual([]);
  expect(warningsOf(result)).toEqual([expect.stringContaining(`spec.yaml:${said}`)]);
});

test('older names of the server mean what they meant, in seconds', () => {
  const { loaded } = loadFixture('older-names.yaml');
  expect(loaded?.specification.server).toMatchObject({
    working_dir: folder,
    env: { USER_AGENT: 'Kiosk/1.0', REQUEST_TIMEOUT: '30' },
    startup_timeout_seconds: 10,
    shutdown_timeout_seconds: 5,
  });
  expect(loaded?.specification.server).not.toHaveProperty('startup_timeout');
});

test('where a setting of the server has both names, the present one holds, and a warning says so', () => {
  const result = load(
    '',
    {},
    'server: {command: node, env: {A: b}, environment: {A: c}, startup_timeout: 3}\n',
  );
  expect(result.loaded?.specification.server).toMatchObject({ env: { A: 'b' }, startup_timeout_seconds: 3 });
  expect(warningsOf(result)).toEqual([
    'spec.yaml:2:38: warning: server.environment is ignored: env is also given',
  ]);
});

test('what is honoured reaches the plan: retries, load, limits, phases, tags', () => {
  const { loaded } = loadFixture('advanced-configuration.yaml');
  expect(loaded?.specification.test_config.retry).toMatchObject({
    max_retries: 2,
    exponential_backoff: true,
  });
  const [planned] = loaded!.tests;
  expect(planned?.test).toMatchObject({
    performance: { max_duration_ms: 500, min_ops_per_sec: 10.5 },
    test_config: { concurrent_requests: 5, retry_attempts: 1, requests_per_second: 50 },
  });
  expect(planned?.scripts).toMatchObject([{ name: 'counts', execution_phase: 'after' }]);
  const mixed = loadFixture('python-and-javascript-scripts.yaml').loaded;
  expect(mixed?.tests[0]?.scripts).toMatchObject([
    { name: 'totals', execution_phase: 'both', description: 'Adds up', timeout_ms: 5000 },
    { name: 'shape', skip: expect.stringContaining('"javascript"') },
  ]);
});

test.each([
  ['a misspelt key', 'toolz: []', '3:1: warning: toolz is not known and is ignored (did you mean "tools"?)'],
  [
    'a misspelt key of a test',
    tests('- name: t\n  expectd: {error: true}'),
    '7:9: warning: tools[0].tests[0].expectd is not known and is ignored (did you mean "expected"?)',
  ],
  [
    'a script that no test names',
    'validation_scripts: [{name: lonely, source: "1"}]',
    '3:29: warning: validation_scripts[0].name "lonely" is not used by any test, so the script never runs',
  ],
])('%s is warned about', (_, text, said) => {
  const result = load(text);
  expect(result.faults).toBeUndefined();
  expect(warningsOf(result)).toEqual([`spec.yaml:${said}`]);
});

test.each([
  ['a step', 'setup: [{tool: a, inptu: {}}]', 'setup[0].inptu is not known (did you mean "input"?)'],
  [
    'an answer to the server',
    tests('- {name: t, elicitation: [{action: accept, contnet: {}}]}'),
    'elicitation[0].contnet is not known (did you mean "content"?)',
  ],
  [
    'another language',
    'validation_scripts: [{name: a, language: pyhton, source: x}]',
    'did you mean "python"?',
  ],
  ['a number that JSON does not have', tests('- {name: t, input: {a: .nan}}'), 'input.a is NaN, which JSON'],
])('a mistake in %s stays a fault', (_, text, said) => {
  expect(load(text).faults?.map(faultText).join('\n')).toContain(said);
});
