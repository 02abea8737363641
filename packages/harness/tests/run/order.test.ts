import { expect, test } from 'vitest';
import type { TestResult } from '../../../core/src/contract/test-report.js';
import { countPlanned } from '../../src/run/run-suite.js';
import { loadSpecification } from '../../src/spec/load.js';
import { over, run, specFile } from './suites.js';

const server = over('good.mjs');
const tool = (name: string, ...tests: object[]) => ({ name, tests });

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
  expect(report.results.map(({ reason }) => reason)).toEqual(Array(2).fill('the run was aborted'));
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

test('how many results there will be is known before', () => {
  const { loaded } = loadSpecification(
    specFile({ server, capabilities: { tools: true }, tools: [tool('count', { name: 'counts' })] }),
    { environment: {} },
  );
  expect(countPlanned(loaded!)).toBe(2);
});
