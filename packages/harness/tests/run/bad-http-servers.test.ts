import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { over, overHttp, run, WORK } from './suites.js';

const QUICK = { test_config: { timeout_override_ms: 1500 } };

test.each([
  ['status 500', 'server', /^The server answered with HTTP status 500: the disk is full$/],
  ['invalid JSON', 'protocol', /^The server's answer is not JSON: /],
  ['wrong id', 'protocol', /^The call was not answered\. The server answered with the unknown id 100\d\.$/],
  ['no answer in the stream', 'protocol', /^The response to the request ended without an answer\.$/],
  ['hangs', 'timeout', /^The server did not answer within 1\.5 s\.$/],
  ['dies', 'server', /^The server ended with status 5\.$/],
])('over HTTP: %s', async (way, kind, says) => {
  const { report, named } = await run({
    server: overHttp('odd-http.mjs', [way]),
    tools: [{ name: 'work', tests: [{ name: 'works', ...(way === 'hangs' && QUICK) }] }],
  });
  expect(report.problem).toBeUndefined();
  expect(named('works').failures.map((failure) => failure.kind)).toEqual([kind]);
  expect(named('works').failures[0]!.message).toMatch(says);
});

test('an address at which nobody answers, and one that is no MCP server', async () => {
  const nobody = await run({ server: { url: 'http://127.0.0.1:1/mcp', transport: 'http' }, ...WORK });
  expect(nobody.report.problem).toMatch(/ECONNREFUSED|bad port/);
  const page = createServer((_, res) => res.end('<h1>hello</h1>'));
  await new Promise<void>((done) => page.listen(0, '127.0.0.1', done));
  const { port } = page.address() as AddressInfo;
  const other = await run({ server: { url: `http://127.0.0.1:${port}/`, transport: 'http' }, ...WORK });
  expect(other.report.problem).toMatch(/content type/i);
  page.close();
});

test('a server over HTTP that ends before it listens is told with what it wrote', async () => {
  const { report } = await run({ server: overHttp('dies-at-start.mjs'), ...WORK });
  expect(report.problem).toMatch(/^The server ended with status 7\.\nstderr:\nthere is no configuration$/);
});

test('one that never listens is given up', async () => {
  const { report } = await run({
    server: overHttp('hangs-at-start.mjs', [], { startup_timeout_seconds: 1 }),
    ...WORK,
  });
  expect(report.problem).toMatch(/^The server was not ready within 1 seconds of its start\./);
});

test('there is no network in the sandbox, so HTTP is refused there', async () => {
  const { report } = await run({ server: overHttp('good.mjs', [], { sandbox: true }), ...WORK });
  expect(report.problem).toMatch(/^A server in the sandbox has no network: use stdio/);
  const without = await run({ server: over('good.mjs', { sandbox: true }), ...WORK });
  expect(without.report.problem).toMatch(/it requires a sandbox, and there is none here/);
});
