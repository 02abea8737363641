// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestResult } from '../../../src/contract/test-report.js';
import { countPlanned } from '../../../src/harness/run/run-suite.js';
import { loadSpecification } from '../../../src/harness/spec/load.js';
import { messagesOf, over, overHttp, run, runFile, specFile } from './suites.js';

const server = over('good.mjs');
const tool = (name: string, ...tests: object[]) => ({ name, tests });

test('captures of setup steps and of tests are used later', async () => {
  const { named, statuses } = await run({
    server,
    variables: { two: 2 },
    setup: [{ tool: 'add', input: { a: '${two}', b: 1 }, capture: { three: '$.sum' } }],
    tools: [
      tool(
        'add',
        {
          name: 'uses both',
          setup: [{ tool: 'add', input: { a: '${three}', b: 1 }, capture: { four: '$.sum' } }],
          input: { a: '${three}', b: '${four}' },
          expected: { fields: [{ path: '$.sum', value: 7 }] },
          capture: { seven: '$.sum' },
        },
        {
          name: 'uses the test before',
          input: { a: '${seven}', b: 1 },
          expected: { fields: [{ path: '$.sum', value: 8 }] },
        },
        {
          name: 'rows',
          matrix: { a: [1, 2] },
          input: { a: '${a}', b: 0 },
          expected: { text_contains: '${a}' },
        },
        { name: 'captures nothing', input: { a: 1, b: 1 }, capture: { nothing: '$.product' } },
        { name: 'goes without', input: { a: '${nothing}', b: 1 } },
      ),
    ],
  });
  expect(statuses).toEqual([
    'uses both: passed',
    'uses the test before: passed',
    'rows [a=1]: passed',
    'rows [a=2]: passed',
    'captures nothing: failed',
    'goes without: skipped',
  ]);
  expect(messagesOf(named('captures nothing'))).toEqual([
    'Nothing was captured for "nothing": there is no $.product in the answer.',
  ]);
  expect(named('goes without').reason).toBe('"tool/add/captures nothing" did not pass, and it depends on it');
});

test('steps that fail are told by their number', async () => {
  const failing = { tool: 'fail' };
  const { named } = await run({
    server,
    tools: [
      tool(
        'count',
        { name: 'setup', setup: [{ ...failing, allow_error: true }, failing, { tool: 'count' }] },
        { name: 'cleanup', cleanup: [failing, failing] },
      ),
    ],
  });
  expect(messagesOf(named('setup'))).toEqual(['Setup step 2 (fail): it failed: it broke']);
  expect(messagesOf(named('cleanup'))).toEqual([
    'Cleanup step 1 (fail): it failed: it broke',
    'Cleanup step 2 (fail): it failed: it broke',
  ]);
  const all = await run({ server, setup: [failing], tools: [tool('count', { name: 'counts' })] });
  expect(all.report.problem).toBe('Setup step 1 (fail): it failed: it broke');
  expect(all.statuses).toEqual(['counts: skipped']);
});

test('what was not passed is not built upon; fail_fast ends the run; what is skipped says why', async () => {
  const tests = [
    { name: 'wrong', expected: { text_contains: 'nobody' } },
    { name: 'needs it', depends_on: ['wrong'] },
    { name: 'left out', skip: 'not today' },
    { name: 'right' },
  ];
  const specification = { server, tools: [tool('count', ...tests)], test_config: { max_concurrency: 1 } };
  const { statuses, named } = await run(specification);
  expect(statuses).toEqual(['wrong: failed', 'needs it: skipped', 'left out: skipped', 'right: passed']);
  expect(named('left out').reason).toBe('not today');
  const fast = await run(specification, { failFast: true });
  expect(fast.statuses.at(-1)).toBe('right: skipped');
  expect(fast.named('right').reason).toBe('"tool/count/wrong" failed, and fail_fast is set');
});

test('a test is tried again, and a fresh server knows nothing of the one before', async () => {
  const third = { name: 'third', expected: { text_contains: '3' } };
  const retry = { max_retries: 3, retry_delay_ms: 1 };
  const { named } = await run({ server, tools: [tool('count', third)], test_config: { retry } });
  expect(named('third')).toMatchObject({ status: 'passed', attempts: 3 });
  const fresh = await run({
    server,
    tools: [tool('count', { ...third, test_config: { retry_attempts: 1 } })],
    test_config: { retry, fresh_server: true },
  });
  expect(fresh.named('third')).toMatchObject({ status: 'failed', attempts: 2 });
  expect(fresh.named('third').serverStderr).toBe('counted to 1\n');
});

test('calls are repeated, at once and at a pace, and measured', async () => {
  const { named } = await run({
    server,
    tools: [
      tool(
        'count',
        {
          name: 'often',
          test_config: { repeat: 30, concurrent_requests: 5 },
          performance: { min_ops_per_sec: 1, max_memory_mb: 4000 },
        },
        { name: 'too often', test_config: { repeat: 5 }, expected: { text_contains: '1' } },
        { name: 'at a pace', test_config: { repeat: 4, requests_per_second: 40 } },
        { name: 'for a while', test_config: { stress_test_duration_seconds: 0.2 } },
        { name: 'too large', performance: { max_memory_mb: 1 } },
        { name: 'too slow', performance: { max_duration_ms: 0.000001 } },
      ),
    ],
    test_config: { max_concurrency: 1 },
  });
  expect(messagesOf(named('often'))).toEqual([]);
  expect(named('often').response).toEqual({ content: [{ type: 'text', text: '30' }] });
  expect(named('often').memoryMb).toBeGreaterThan(5);
  expect(named('often').opsPerSecond).toBeGreaterThan(0);
  expect(messagesOf(named('too often')).at(0)).toMatch(/^Call 2: /);
  expect(messagesOf(named('too often')).at(-1)).toBe('1 more calls were not as expected.');
  expect(named('at a pace').opsPerSecond).toBeLessThan(60);
  expect(named('for a while').status).toBe('passed');
  expect(named('too large').failures.map(({ kind }) => kind)).toEqual(['performance']);
  expect(named('too slow').failures.map(({ kind }) => kind)).toEqual(['performance']);
});

test.each([
  ['stdio, legacy', over('good.mjs', { protocol: 'legacy' })],
  ['stdio, modern', over('good.mjs', { protocol: 'modern' })],
  ['HTTP, modern', overHttp('good.mjs', [], { protocol: 'modern' })],
])('questions of the server, progress, logs and cancellation: %s', async (_, good) => {
  const { named, statuses } = await run({
    server: good,
    tools: [
      tool(
        'ask',
        {
          name: 'answers',
          elicitation: [{ action: 'accept', content: { name: 'Ada' } }],
          expected: { text_contains: 'hello Ada' },
        },
        { name: 'declines', elicitation: [{ action: 'decline' }], expected: { text_contains: 'decline' } },
      ),
      tool(
        'progress',
        { name: 'counts', input: { steps: 3 }, expected: { progress: 3, logs: { min: 3, max: 3 } } },
        { name: 'counts wrongly', input: { steps: 2 }, expected: { progress: { min: 3 }, logs: 0 } },
      ),
      tool(
        'slow',
        { name: 'is cancelled', input: { ms: 60_000 }, cancel_after_ms: 50, expected: { cancelled: true } },
        { name: 'is too quick', input: { ms: 0 }, cancel_after_ms: 30_000, expected: { cancelled: true } },
        { name: 'is in vain', input: { ms: 0 }, elicitation: [{ action: 'decline' }] },
      ),
    ],
  });
  expect(messagesOf(named('counts wrongly'))).toEqual([
    'There should have been at least 3 progress notifications, and there were 2.',
    'There should have been 0 log messages, and there were 2.',
  ]);
  expect(named('counts').progress).toBe(3);
  expect(messagesOf(named('is too quick'))[0]).toMatch(
    /^The call should have been cancelled, and was answered/,
  );
  expect(messagesOf(named('is in vain'))).toEqual([
    'The server should have asked 1 times, as there are answers for it, and asked 0 times.',
  ]);
  expect(statuses.filter((status) => status.endsWith('passed'))).toEqual([
    'answers: passed',
    'declines: passed',
    'counts: passed',
    'is cancelled: passed',
  ]);
});

test('a question that the test has no answer for', async () => {
  const { named } = await run({
    server: over('good.mjs', { protocol: 'legacy' }),
    tools: [
      tool('ask', {
        name: 'asks',
        test_config: { repeat: 2, concurrent_requests: 1 },
        elicitation: [{ action: 'accept', content: { name: 'Ada' } }],
      }),
    ],
  });
  expect(messagesOf(named('asks'))).toEqual([
    'The server asked for input, and the test has no answer left for it: Who is it?',
  ]);
  const other = await run({
    server: over('good.mjs', { protocol: 'legacy' }),
    tools: [tool('ask', { name: 'is silent about it', expected: { text_contains: 'hello' } })],
  });
  expect(messagesOf(other.named('is silent about it'))).toEqual([
    'The text should contain "hello", and is "cancel".',
    'The server asked for input, and the test has no answer left for it: Who is it?',
  ]);
});

test('after a cancelled call, a server must still answer', async () => {
  const { named } = await run({
    server: over('hangs-in-call.mjs'),
    tools: [tool('work', { name: 'works', cancel_after_ms: 300, expected: { cancelled: true } })],
  });
  expect(messagesOf(named('works'))).toEqual([
    'The call was cancelled, and the server answered nothing within 5 seconds after that.',
  ]);
});

test('capabilities and what is advertised are checked', async () => {
  const { report, statuses } = await run({
    server,
    capabilities: { tools: true, completions: true, prompts: false, experimental: { magic: true } },
    tools: [
      { name: 'add', input_schema: { type: 'object' }, tests: [] },
      { name: 'nowhere', output_schema: { type: 'object' }, tests: [] },
    ],
    prompts: [{ name: 'greet', arguments: [{ name: 'name', required: true }], tests: [] }],
  });
  expect(statuses).toEqual([
    'tools: passed',
    'prompts: failed',
    'completions: failed',
    'experimental: failed',
    'input_schema: failed',
    'output_schema: failed',
    'arguments: passed',
  ]);
  expect(report.results.flatMap(messagesOf)).toEqual([
    'The server should not advertise prompts, and does.',
    'The server should advertise completions, and does not.',
    'The server does not advertise experimental as it should.',
    'The tool add does not advertise the input schema that it should.',
    'The server has no tool nowhere.',
  ]);
  expect(report.results[4]!.failures[0]!.diff).toMatch(/^\+ .*"properties"/m);
});

test('snapshots are kept, compared and updated', async () => {
  const spec = (sum: number) => ({
    server,
    tools: [tool('add', { name: 'adds', input: { a: sum, b: 0 }, expected: { snapshot: true } })],
  });
  const file = specFile(spec(1));
  expect((await runFile(file, { snapshots: 'check' })).named('adds').failures[0]).toMatchObject({
    kind: 'snapshot',
  });
  expect((await runFile(file)).statuses).toEqual(['adds: passed']);
  const kept = join(dirname(file), '__snapshots__', 'spec.yaml.json');
  expect(JSON.parse(readFileSync(kept, 'utf8'))).toMatchObject({
    'tool/add/adds': { structuredContent: { sum: 1 } },
  });
  const changed = specFile(spec(2));
  writeFileSync(file, readFileSync(changed));
  expect((await runFile(file)).named('adds').failures[0]).toMatchObject({ kind: 'snapshot' });
  expect((await runFile(file, { snapshots: 'update', isWhole: true })).statuses).toEqual(['adds: passed']);
  expect((await runFile(file, { snapshots: 'check' })).statuses).toEqual(['adds: passed']);
  rmSync(dirname(changed), { recursive: true });
  expect(existsSync(kept)).toBe(true);
});

test('a run that is broken off cancels what runs, skips the rest and ends the server', async () => {
  const breaking = new AbortController();
  const started: string[] = [];
  const ended: TestResult[] = [];
  const events = {
    testStarted: (id: string) => {
      started.push(id);
      if (id.endsWith('never')) setTimeout(() => breaking.abort(), 100);
    },
    testEnded: (result: TestResult) => ended.push(result),
  };
  const { report, statuses } = await run(
    {
      server,
      tools: [tool('slow', { name: 'never', input: { ms: 600_000 } }, { name: 'later', input: { ms: 1 } })],
      test_config: { max_concurrency: 1 },
    },
    { signal: breaking.signal, events },
  );
  expect(statuses).toEqual(['never: skipped', 'later: skipped']);
  expect(report.results.map(({ reason }) => reason)).toEqual(Array(2).fill('the run was broken off'));
  expect(started).toEqual(['tool/slow/never']);
  expect(ended).toEqual(report.results);
});

test('several tests run at once on one connection, and those that must be alone are', async () => {
  let most = 0;
  let now = 0;
  const aloneWith: number[] = [];
  const events = {
    testStarted: (id: string) => {
      now += 1;
      most = Math.max(most, now);
      if (id.endsWith('alone')) aloneWith.push(now);
    },
    testEnded: () => {
      now -= 1;
    },
  };
  const slow = (name: string, more: object = {}) => ({ name, input: { ms: 100 }, ...more });
  const { statuses } = await run(
    {
      server,
      tools: [
        tool(
          'slow',
          slow('a'),
          slow('b'),
          slow('alone', { performance: { max_duration_ms: 60_000 } }),
          slow('c'),
          slow('d'),
        ),
      ],
    },
    { events, maxConcurrency: 2 },
  );
  expect(statuses.every((status) => status.endsWith('passed'))).toBe(true);
  expect(most).toBe(2);
  expect(aloneWith).toEqual([1]);
});

test('validation scripts run around the call and are told what happened', async () => {
  const heard: unknown[] = [];
  const nothing = { failures: [], advisories: [], logs: [] };
  const validators = {
    session: {},
    run: async (script: { name: string }, context: unknown) => {
      heard.push([script.name, context]);
      const found = { kind: 'script' as const, message: `${script.name} found it` };
      return script.name === 'strict'
        ? { ...nothing, failures: [found] }
        : { ...nothing, advisories: [found] };
    },
    evaluate: async (expressions: readonly string[]) => {
      heard.push(expressions);
      return nothing;
    },
  };
  const specification = {
    server,
    variables: { colour: 'red' },
    metadata: { owner: 'us' },
    validation_scripts: [
      { name: 'mild', execution_phase: 'both', required: false, source: 'pass' },
      { name: 'strict', source: 'pass' },
    ],
    tools: [
      tool('add', {
        name: 'adds',
        input: { a: 1, b: 1 },
        validation_scripts: ['mild', 'strict'],
        expected: { expression: 'response' },
      }),
    ],
  };
  const { named } = await run(specification, { validators });
  expect(heard.map((one) => (one as unknown[])[0])).toEqual(['mild', 'response', 'mild', 'strict']);
  expect(heard[0]).toMatchObject([
    'mild',
    { response: null, metadata: { phase: 'before', tool_name: 'add' } },
  ]);
  expect(heard[3]).toMatchObject([
    'strict',
    {
      request: { method: 'tools/call', params: { name: 'add' } },
      response: { structuredContent: { sum: 2 } },
      metadata: { phase: 'after', server_info: { name: 'good' }, index: 0, attempt: 1 },
      variables: { colour: 'red' },
      custom: { owner: 'us' },
    },
  ]);
  expect(messagesOf(named('adds'))).toEqual(['strict found it']);
  expect(named('adds').advisories).toHaveLength(2);
  const without = await run(specification);
  expect(messagesOf(without.named('adds'))[0]).toMatch(/Python in it, and there is nothing here/);
});

test('the type of what is read is checked', async () => {
  const { statuses, named } = await run({
    server,
    resources: [
      { uri_template: 'note://{id}', mime_type: 'text/html', tests: [{ name: 'reads', input: { id: '1' } }] },
    ],
  });
  expect(statuses).toEqual(['reads: failed']);
  expect(messagesOf(named('reads'))).toEqual([
    'The type of the content should be text/html, and is text/plain.',
  ]);
});

test('what is set up is cleaned up on every server, also where the run is broken off', async () => {
  const specification = {
    server,
    setup: [{ tool: 'count' }],
    cleanup: [{ tool: 'fail' }],
    tools: [tool('count', { name: 'counts', expected: { text_contains: '2' } }, { name: 'goes on' })],
  };
  const shared = await run(specification);
  expect(shared.statuses).toEqual(['counts: passed', 'goes on: passed']);
  expect(shared.report.problem).toBe('Cleanup step 1 (fail): it failed: it broke');
  const fresh = await run({ ...specification, test_config: { fresh_server: true } });
  expect(fresh.statuses).toEqual(['counts: passed', 'goes on: passed']);
  expect(fresh.report.problem).toBe('Cleanup step 1 (fail): it failed: it broke');
  const breaking = new AbortController();
  const events = { testStarted: () => breaking.abort(), testEnded: () => {} };
  // The checks come first, and have started the server.
  const broken = await run(
    { ...specification, capabilities: { tools: true } },
    { signal: breaking.signal, events },
  );
  expect(broken.statuses).toEqual(['tools: passed', 'counts: skipped', 'goes on: skipped']);
  expect(broken.report.problem).toBe('Cleanup step 1 (fail): it failed: it broke');
});

test('how many results there will be is known before', () => {
  const { loaded } = loadSpecification(
    specFile({ server, capabilities: { tools: true }, tools: [tool('count', { name: 'counts' })] }),
    { environment: {} },
  );
  expect(countPlanned(loaded!)).toBe(2);
});
