import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { messagesOf, over, run, runFile, specFile } from './suites.js';

const server = over('good.mjs');
const tool = (name: string, ...tests: object[]) => ({ name, tests });

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
  expect(messagesOf(named('too often')).at(-1)).toBe('1 more calls failed.');
  expect(named('at a pace').opsPerSecond).toBeLessThan(60);
  expect(named('for a while').status).toBe('passed');
  expect(named('too large').failures.map(({ kind }) => kind)).toEqual(['performance']);
  expect(named('too slow').failures.map(({ kind }) => kind)).toEqual(['performance']);
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
    'The server does not advertise experimental as expected.',
    'The tool add does not advertise the expected input schema.',
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

test('the type of what is read is checked', async () => {
  const { statuses, named } = await run({
    server,
    resources: [
      { uri_template: 'note://{id}', mime_type: 'text/html', tests: [{ name: 'reads', input: { id: '1' } }] },
    ],
  });
  expect(statuses).toEqual(['reads: failed']);
  expect(messagesOf(named('reads'))).toEqual([
    'The type of the content should be text/html but is text/plain.',
  ]);
});
