import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/places.js';
import { until } from '../support/until.js';
import { HostileMessages } from './hostile-messages.js';
import { PYTHONS, wrapShop } from './wrapped-folder.js';

const MESSAGES = 6000;
const ENOUGH_MS = 30_000;
const CODES = [-32700, -32600, -32601, -32602, -32022];

const root = temporaryFolder();
let wrapper: string;
beforeAll(async () => {
  wrapper = join(await wrapShop(root), 'wrapper.py');
});

const started: ChildProcessByStdio<Writable, Readable, Readable>[] = [];
afterAll(() => {
  for (const child of started) child.kill();
});

interface Said {
  jsonrpc?: string;
  id?: unknown;
  method?: string;
  result?: unknown;
  error?: { code: number; message: string };
}

/** A wrapper whose every line is looked at. */
function startWrapper(python: string) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    WRAPPER_MAX_EXECUTION_TIME: '5',
    WRAPPER_MAX_CONCURRENT: '2',
  };
  const child = spawn(python, [wrapper], { stdio: ['pipe', 'pipe', 'pipe'], env });
  started.push(child);
  const answers = new Map<unknown, Said>();
  const wrong: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const messages = [JSON.parse(line) as Said | Said[]].flat();
    for (const message of messages) {
      const isAnswer = 'result' in message || CODES.includes(message.error?.code ?? 0);
      if (message.jsonrpc !== '2.0' || !(isAnswer || 'method' in message || 'partial' in message))
        wrong.push(line.slice(0, 500));
      if (isAnswer) answers.set(message.id, message);
    }
  });
  return { child, answers, wrong, stderr: text(child.stderr) };
}

async function write(stream: Writable, data: Buffer): Promise<void> {
  if (!stream.write(data)) await once(stream, 'drain');
}

const HANDSHAKES = [null, '2025-03-26', '2025-11-25'];

test.each(
  PYTHONS.map((python, index) => ({ ...python, seed: 5_000 + index, version: HANDSHAKES[index % 3]! })),
)(
  'whatever is sent, wrapper.py lives and answers: Python at $path, handshake $version',
  async ({ path: python, seed, version }) => {
    const { child, answers, wrong, stderr } = startWrapper(python);
    const messages = new HostileMessages(seed);
    if (version !== null) {
      const params = {
        protocolVersion: version,
        capabilities: {},
        clientInfo: { name: 'fuzz', version: '1' },
      };
      await write(child.stdin, line({ jsonrpc: '2.0', id: 'hello', method: 'initialize', params }));
    }
    const end = performance.now() + ENOUGH_MS;
    let sent = 0;
    for (; sent < MESSAGES && performance.now() < end; sent += 1)
      await write(child.stdin, Buffer.concat([messages.line(), Buffer.from('\n')]));
    // One that is longer than any message may be, without an end for a while.
    await write(
      child.stdin,
      Buffer.concat([
        Buffer.from('{"jsonrpc":"2.0","id":"long","x":"'),
        Buffer.alloc(11 << 20, 'x'),
        Buffer.from('"}\n'),
      ]),
    );
    await write(child.stdin, line({ jsonrpc: '2.0', id: 'alive', method: 'ping' }));
    await write(child.stdin, line({ jsonrpc: '2.0', id: 'list', method: 'ListTools' }));
    await until(() => answers.has('list'), 'the wrapper answers', 60_000);
    expect(answers.get('alive')).toEqual({ jsonrpc: '2.0', id: 'alive', result: {} });
    expect(answers.get('list')).toMatchObject({ result: { tools: expect.any(Array) } });
    const called = { name: 'price', arguments: { item: 'pen' } };
    await write(child.stdin, line({ jsonrpc: '2.0', id: 'call', method: 'CallTool', params: called }));
    await until(() => answers.has('call'), 'a call is answered', 60_000);
    expect(answers.get('call')).toMatchObject({ result: { ok: true, value: 2 } });
    expect(answers.has('long')).toBe(false);
    expect(wrong).toEqual([]);
    expect(sent).toBeGreaterThan(500);
    const closed = once(child, 'close');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(await stderr).not.toContain('WRAPPER-ERROR');
  },
  180_000,
);

const line = (message: object) => Buffer.from(`${JSON.stringify(message)}\n`);
