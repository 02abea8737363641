import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';
import { until } from '../../../tests/support/until.js';
import { NO_ENVIRONMENTS } from './doors.js';
import { sharedHttpDoor } from './http-door.js';

const shared = sharedHttpDoor();
const TASKS = 'io.modelcontextprotocol/tasks';

interface Sent {
  status: number;
  result: Record<string, unknown>;
  error: { code: number; message: string; data?: unknown };
}

const envelope = (client: string, knows: boolean) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
  'io.modelcontextprotocol/clientCapabilities': knows ? { extensions: { [TASKS]: {} } } : {},
});

/** The official client knows no tasks, so requests are written by hand. */
async function send(
  method: string,
  params: Record<string, unknown>,
  { client = 'ann', knows = true, name = params['taskId'] ?? (params['name'] as unknown) } = {},
): Promise<Sent> {
  const _meta = envelope(client, knows);
  const response = await fetch(shared.door.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(name !== null && { 'mcp-name': String(name) }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
  return { status: response.status, ...((await response.json()) as Omit<Sent, 'status'>) };
}

async function start(code: string, args = {}): Promise<string> {
  const { result } = await send('tools/call', {
    name: 'execute_python',
    arguments: { code, background: true, ...args },
  });
  expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 86_400_000 });
  return String(result['taskId']);
}

const settled = (taskId: string) =>
  until(async () => {
    const { result } = await send('tasks/get', { taskId });
    return result['status'] !== 'working' && result;
  }, 'the task has settled');

test('a background run is a task for a client that knows them, and its result is that of the call', async () => {
  const task = await settled(await start('print("x")\n6 * 7'));
  expect(task).toMatchObject({
    resultType: 'complete',
    status: 'completed',
    result: { structuredContent: { value: 42, stdout: 'x\n' }, isError: false },
  });
  const failed = await settled(await start('1 / 0'));
  expect(failed).toMatchObject({ status: 'completed', result: { isError: true } });
});

test('a client that knows no tasks gets a handle, and a call without background is no task', async () => {
  const args = { name: 'execute_python', arguments: { code: '1', background: true } };
  const { result } = await send('tools/call', args, { knows: false });
  expect(result).toMatchObject({
    resultType: 'complete',
    structuredContent: { run: expect.stringMatching(/^run-/) },
  });
  const plain = await send('tools/call', { name: 'execute_python', arguments: { code: '1' } });
  expect(plain.result).toMatchObject({ resultType: 'complete', structuredContent: { value: 1 } });
});

test('a task shows what it says, and is cancelled', async () => {
  const taskId = await start('print("half", flush=True)\nwhile True: pass');
  await until(
    async () => (await send('tasks/get', { taskId })).result['statusMessage'] === 'half',
    'the status message is its last line',
  );
  // It asks nothing, so an update changes nothing.
  const update = await send('tasks/update', { taskId, inputResponses: { x: { action: 'accept' } } });
  expect(update.result).toEqual({ resultType: 'complete', _meta: expect.anything() });
  for (let round = 0; round < 2; round += 1) {
    const { result } = await send('tasks/cancel', { taskId });
    expect(result).toEqual({ resultType: 'complete', _meta: expect.anything() });
  }
  expect(await settled(taskId)).toMatchObject({ status: 'cancelled' });
});

test('another caller finds no task, whatever it asks', async () => {
  const running = await start('while True: pass');
  const ended = await start('1');
  await settled(ended);
  for (const taskId of [running, ended, 'run-', '', '../x', 'x'.repeat(100_000)]) {
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const { error } = await send(
        method,
        { taskId, inputResponses: {} },
        { client: 'ben', name: taskId.slice(0, 5000) === taskId ? taskId : null },
      );
      expect([-32602, -32020]).toContain(error.code);
    }
  }
  expect((await send('tasks/get', { taskId: running })).result).toMatchObject({ status: 'working' });
  await send('tasks/cancel', { taskId: running });
});

test('requests about tasks are refused by rule', async () => {
  const taskId = await start('1');
  const undeclared = await send('tasks/get', { taskId }, { knows: false });
  expect(undeclared.error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { extensions: { [TASKS]: {} } } },
  });
  for (const name of [null, 'another']) {
    const { status, error } = await send('tasks/get', { taskId }, { name });
    expect({ status, code: error.code }).toEqual({ status: 400, code: -32020 });
  }
  for (const method of ['tasks/result', 'tasks/list'])
    expect((await send(method, { taskId })).error.code).toBe(-32601);
  expect((await send('tasks/get', { taskId: 5 })).error.code).toBe(-32602);
});

test('tasks are served over stdio, too', async () => {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, ...ownFolders(), ...NO_ENVIRONMENTS, LOG_LEVEL: 'error' };
  const server = spawn(process.execPath, [MAIN, 'serve'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const replies = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  const ask = async (method: string, params: Record<string, unknown>) => {
    const request = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: envelope('ann', true) } };
    server.stdin.write(`${JSON.stringify(request)}\n`);
    return (JSON.parse((await replies.next()).value) as Sent).result;
  };
  const args = { code: 'print(1)', background: true };
  const { taskId } = await ask('tools/call', { name: 'execute_python', arguments: args });
  const task = await until(async () => {
    const seen = await ask('tasks/get', { taskId });
    return seen['status'] === 'working' ? undefined : seen;
  }, 'the task has settled');
  expect(task).toMatchObject({ status: 'completed', result: { structuredContent: { stdout: '1\n' } } });
  server.stdin.end();
  await new Promise((resolve) => server.on('exit', resolve));
});
