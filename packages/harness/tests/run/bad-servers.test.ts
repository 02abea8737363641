import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { descendantsOf } from '../../../../tests/support/processes.js';
import { messagesOf, over, run, WORK } from './suites.js';

/** How a server that fails in a call is told, and what else is told of it at the end. */
const BAD: Record<string, { kind: string; says: RegExp; config?: object; atEnd?: RegExp; stderr?: RegExp }> =
  {
    'hangs-in-call.mjs': {
      kind: 'timeout',
      says: /^The server did not answer within 1(\.0)? s\.$/,
      config: { timeout_override_ms: 1000 },
      stderr: /^going around in circles\n$/,
    },
    'never-answers.mjs': {
      kind: 'timeout',
      says: /^The server did not answer within 700 ms\.$/,
      config: { timeout_override_ms: 700 },
      stderr: /what call\?/,
    },
    'floods-stdout.mjs': {
      kind: 'protocol',
      says: /^The server flooded its output: more than 100000 lines arrived without an answer\. .*all work and no play/,
      atEnd: /There were \d+ more/,
    },
    'floods-one-line.mjs': {
      kind: 'protocol',
      says: /^The server wrote more than 10 MB to stdout without a line end, .*"result":"xxx/,
    },
    'wrong-id.mjs': {
      kind: 'protocol',
      says: /^The call was not answered\. The server answered with the unknown id 100\d\.$/,
      atEnd: /answered with the unknown id 100\d/,
    },
    'invalid-json.mjs': {
      kind: 'protocol',
      says: /^The call was not answered\. The server wrote a line to stdout that is not valid JSON: \{'jsonrpc'/,
      atEnd: /not valid JSON/,
    },
    'not-json-rpc.mjs': {
      kind: 'protocol',
      says: /^The call was not answered\. The server wrote JSON to stdout that is not a JSON-RPC message: \{"worked": true\}$/,
      atEnd: /not a JSON-RPC message/,
    },
    'half-a-line.mjs': {
      kind: 'server',
      says: /^The server ended with status 3, in the middle of a message: \{"jsonrpc": "2\.0", "id": \d+, "resu\.$/,
      atEnd: /in the middle of a message/,
    },
    'dies-in-call.mjs': {
      kind: 'server',
      says: /^The server ended with status 1\.$/,
      stderr: /it is all too much/,
    },
    'killed-in-call.mjs': { kind: 'server', says: /^The server ended by SIGSEGV\.$/ },
    'closes-stdout.mjs': {
      kind: 'server',
      says: /^The server closed its stdout but kept running: it can no longer be called\.$/,
    },
    'lies-about-schema.mjs': {
      kind: 'schema',
      says: /^\$\.total violates the output schema that the tool advertises: it must be number: "many"\.$/,
    },
    'no-result.mjs': {
      kind: 'protocol',
      says: /^The answer is not a valid result of tools\/call: content: /,
    },
  };

for (const [name, { kind, says, config, atEnd, stderr }] of Object.entries(BAD))
  test(`${name} fails with a sentence of its own`, async () => {
    const tests = [{ name: 'works', ...(config && { test_config: config }) }];
    const { report, named } = await run({ server: over(name), tools: [{ name: 'work', tests }] });
    expect(report.problem).toBeUndefined();
    const result = named('works');
    expect(result.failures.map((failure) => failure.kind)).toEqual([kind]);
    expect(result.failures[0]!.message).toMatch(says);
    if (stderr) expect(result.serverStderr).toMatch(stderr);
    const rest = report.results.filter((one) => one.kind === 'server').flatMap(messagesOf);
    if (atEnd) expect(rest.join('\n')).toMatch(atEnd);
    else expect(rest).toEqual([]);
  });

test('what is wrong beside a right answer is told of the server, not of the test', async () => {
  for (const [name, says] of [
    ['answers-twice.mjs', /answered the request with id \d+ twice/],
    ['logs-on-stdout.mjs', /write logs to stderr.*: working …/],
    ['error-without-id.mjs', /answered with an error without an id: .*Parse error/],
  ] as const) {
    const { report, named } = await run({ server: over(name), ...WORK });
    expect(named('works').status).toBe('passed');
    const last = report.results.at(-1)!;
    expect(last).toMatchObject({
      id: 'server/process/follows the protocol',
      kind: 'server',
      status: 'failed',
    });
    expect(messagesOf(last).join('\n')).toMatch(says);
  }
});

test('a flood on stderr neither stops the server nor fills the report', async () => {
  const tests = [{ name: 'works' }, { name: 'fails', expected: { text_contains: 'played' } }];
  const { named } = await run({
    server: over('floods-stderr.mjs'),
    tools: [{ name: 'work', tests }],
    test_config: { max_concurrency: 1 },
  });
  expect(named('works').status).toBe('passed');
  expect(named('works').serverStderr).toBeUndefined();
  const { serverStderr } = named('fails');
  expect(serverStderr).toMatch(/^… \(\d+ characters before this\)\n[\s\S]*last words\n$/);
  expect(serverStderr!.length).toBeLessThan(70_000);
});

test.each([
  [
    'hangs-at-start.mjs',
    { startup_timeout_seconds: 1.5 },
    /^The server was not ready within 1\.5 seconds of its start\.\nstderr:\nthinking about it$/,
  ],
  ['dies-at-start.mjs', {}, /^The server ended with status 7\.\nstderr:\nthere is no configuration$/],
])('%s: nothing can be tested, and the report says why', async (name, more, says) => {
  const { report, statuses } = await run({
    server: over(name, more),
    capabilities: { tools: true },
    ...WORK,
  });
  expect(report.problem).toMatch(says);
  expect(report.server).toBeNull();
  expect(statuses).toEqual(['tools: skipped', 'works: skipped']);
  expect(report.results.map(({ reason }) => reason)).toEqual(Array(2).fill('there was no server to test'));
});

test('a program that there is not, and a folder that there is not', async () => {
  const command = 'no-such-program';
  const none = await run({ server: { command, env: { PATH: '/nowhere' } }, ...WORK });
  expect(none.report.problem).toBe(
    'Could not start the server with "no-such-program": there is no such program.',
  );
  // As in a PATH with a folder that may not be entered.
  const folder = mkdtempSync(join(tmpdir(), 'no-program-'));
  writeFileSync(join(folder, command), '');
  const forbidden = await run({ server: { command, env: { PATH: folder } }, ...WORK });
  rmSync(folder, { recursive: true });
  expect(forbidden.report.problem).toMatch(/: there is no such program that may be executed\.$/);
  const nowhere = await run({ server: over('good.mjs', { working_dir: 'nowhere' }), ...WORK });
  expect(nowhere.report.problem).toMatch(/its working folder .*nowhere does not exist\.$/);
});

test('a port that no client may use', async () => {
  const { report } = await run({ server: { transport: 'http', url: 'http://127.0.0.1:1/mcp' }, ...WORK });
  expect(report.problem).toMatch(/: bad port: HTTP clients never use this one, choose another\.$/);
});

test('a server of the older era that ends at what it does not know is started again for it', async () => {
  const { report, named } = await run({ server: over('dies-of-unknown-methods.mjs'), ...WORK });
  expect(report.problem).toBeUndefined();
  expect(named('works').status).toBe('passed');
  const modern = await run({ server: over('dies-of-unknown-methods.mjs', { protocol: 'modern' }), ...WORK });
  expect(modern.report.problem).toMatch(/^The server ended with status 1\./);
});

test('after a death, or a call without end, the next test has a new server', async () => {
  for (const name of ['dies-in-call.mjs', 'hangs-in-call.mjs']) {
    const { report, named } = await run({
      server: over(name),
      tools: [
        { name: 'work', tests: [{ name: 'first', test_config: { timeout_override_ms: 800 } }] },
        { name: 'nowhere', tests: [{ name: 'second', expected: { error: true, error_code: -32602 } }] },
      ],
      test_config: { max_concurrency: 1 },
    });
    expect(report.problem).toBeUndefined();
    expect(named('first').status).toBe('failed');
    expect(named('second').status).toBe('passed');
    expect(descendantsOf(process.pid).filter(({ command }) => command === 'node')).toEqual([]);
  }
});
