// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is what references look like
import { expect, test } from 'vitest';
import { messagesOf, over, run } from './suites.js';

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
  expect(named('goes without').reason).toBe('it depends on "tool/add/captures nothing", which did not pass');
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
