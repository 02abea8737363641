import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { NO_ENVIRONMENTS } from './doors.js';

let server: ChildProcessWithoutNullStreams;
afterEach(() => server.kill('SIGKILL'));

/** A server spoken to by hand. Lines are kept as they come, whether they are messages or not. */
function start(env: Record<string, string> = {}) {
  server = spawn(process.execPath, [MAIN, 'serve'], { env: { ...process.env, ...NO_ENVIRONMENTS, ...env } });
  const lines: string[] = [];
  const reader = createInterface(server.stdout);
  reader.on('line', (line) => lines.push(line));
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const until = async (wanted: string) => {
    while (!lines.some((line) => line.includes(wanted))) await once(reader, 'line');
  };
  send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hand', version: '1' } },
  });
  send({ method: 'notifications/initialized' });
  return { lines, send, until };
}

const run = (id: number, code: string) => ({
  id,
  method: 'tools/call',
  params: { name: 'execute_python', arguments: { code }, _meta: { progressToken: `progress-${id}` } },
});

test('standard output carries messages and nothing else, whatever is logged', async () => {
  const { lines, send, until } = start({ LOG_LEVEL: 'debug' });
  send(run(1, 'import os\nos.write(1, b"raw\\n")\nprint("done")'));
  await until('"id":1');
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' });
});

test('the server ends with its client, and so does what still runs', async () => {
  const { send, until } = start();
  send(run(1, 'import time\nprint("started", flush=True)\ntime.sleep(1000)'));
  await until('started');
  server.stdin.end();
  expect(await once(server, 'exit')).toEqual([0, null]);
});

test.each([
  ['bytes', `"${'x'.repeat(30 * 1024 * 1024)}"`],
  ['levels of nesting', `${'['.repeat(1000)}${']'.repeat(1000)}`],
  ['lists and objects', `[${'[],'.repeat(200_000)}[]]`],
  ['names in objects', `{${Array.from({ length: 200_000 }, (_, n) => `"a${n}":1`).join()}}`],
  ['values', `[${'1,'.repeat(1_100_000)}1]`],
])('a message with too many %s is refused by its id, and the connection stays', async (limit, json) => {
  const { lines, send, until } = start();
  // The id comes last, as the official client writes it.
  const params = `{"name":"execute_python","arguments":{"code":"1","context":${json}}}`;
  server.stdin.write(`{"method":"tools/call","params":${params},"jsonrpc":"2.0","id":7}\n`);
  send({ id: 8, method: 'ping' });
  await until('"id":8');
  const answers = lines.map((line) => JSON.parse(line)).filter(({ id }) => id !== 0);
  expect(answers).toEqual([
    { jsonrpc: '2.0', id: 7, error: { code: -32600, message: expect.stringMatching(`than \\d+ ${limit}:`) } },
    { jsonrpc: '2.0', id: 8, result: {} },
  ]);
});

test('a client that stops reading ends the server', async () => {
  const { send, until } = start();
  await until('"id":0');
  server.stdout.destroy();
  send({ id: 1, method: 'tools/list' });
  send({ id: 2, method: 'tools/list' });
  const [status, signal] = await once(server, 'exit');
  expect({ status, signal }).toEqual({ status: 0, signal: null });
});

test('a line that is no message does not disturb the ones after it', async () => {
  const { send, until } = start();
  server.stdin.write('this is not JSON\n');
  send(run(1, '40 + 2'));
  await until('"repr":"42"');
});

test.each([
  ['/nowhere/python3', 'INTERPRETER_NOT_FOUND'],
  ['/bin/cat', 'INTERPRETER_NOT_FOUND'],
])('with %s for an interpreter, every tool that needs one says %s', async (python, code) => {
  const { lines, send, until } = start({ PUNGI_PYTHON: python });
  const calls = [
    ['execute_python', { code: '1' }],
    ['create_venv', { venvName: 'own' }],
    ['install_packages', { packages: ['apple'] }],
    ['analyze_code', { code: '1' }],
  ] as const;
  for (const [index, [name, args]] of calls.entries()) {
    send({ id: index + 1, method: 'tools/call', params: { name, arguments: args } });
    await until(`"id":${index + 1}`);
  }
  for (const [index, [name]] of calls.entries()) {
    const answer = lines.map((line) => JSON.parse(line)).find(({ id }) => id === index + 1);
    expect({ name, isError: answer.result.isError }).toEqual({ name, isError: true });
    expect(JSON.stringify(answer.result), name).toContain(code);
    expect(answer.result.content[0].text, name).toContain(python);
  }
});
