import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Refused } from '../src/message-scan.js';
import { LineReader, StdioTransport } from '../src/stdio-transport.js';

const LIMITS = { bytes: 200, depth: 5, containers: 10, keys: 10, ownKeys: 9, values: 20 };

/** What is read and what is refused of these bytes, in pieces of some size. */
function readInPieces(text: string, size: number) {
  const refused: Refused[] = [];
  const lines: string[] = [];
  const reader = new LineReader(
    (line) => lines.push(line.toString()),
    (one) => refused.push(one),
    LIMITS,
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) reader.feed(bytes.subarray(at, at + size));
  return { lines, refused };
}

test('lines within the limits come through as they are, each whole, however they were cut', () => {
  const line = fc.string({
    unit: fc.constantFrom('a', '"', '{', '}', '[', ']', '\\\\', ':', 'ż'),
    maxLength: 5,
  });
  fc.assert(
    fc.property(fc.array(line, { maxLength: 9 }), fc.integer({ min: 1, max: 50 }), (all, size) => {
      const { lines, refused } = readInPieces(all.map((one) => `${one}\n`).join(''), size);
      expect(refused).toEqual([]);
      expect(lines).toEqual(all);
    }),
  );
});

test.each([
  ['bytes', `"${'x'.repeat(300)}"`],
  ['levels of nesting', '[[[[[[]]]]]]'],
  ['lists and objects', `[${'[],'.repeat(10)}[]]`],
  ['names in objects', `{${'"a":1,'.repeat(11)}"b":1}`],
  ['values', `[${'1,'.repeat(21)}1]`],
])('too many %s are refused by their id, whichever side of them it is on', (limit, json) => {
  for (const size of [1, 7, 10_000]) {
    for (const message of [`{"id":"a b","params":${json}}`, `{"params":${json} , "id" : "a b" }`]) {
      const { lines, refused } = readInPieces(`${message}\n{"id":2}\n`, size);
      expect(refused).toEqual([{ id: 'a b', problem: expect.stringMatching(` \\d+ ${limit}: split it`) }]);
      expect(lines).toEqual(['{"id":2}']);
    }
  }
});

test('what is in texts does not count, and an id that is nested or no id is not taken for one', () => {
  const texts = `{"a":"${'[{:,'.repeat(20)}","b":"\\"[[[[[[[[","c":"\\\\"}`;
  expect(readInPieces(`${texts}\n`, 3)).toEqual({ lines: [texts], refused: [] });
  for (const id of ['{"id":1}', '[1]', '1e5', 'null', '"\\u0041"', `"${'x'.repeat(400)}"`]) {
    const { refused } = readInPieces(`{"params":[[[[[[]]]]]],"id":${id}}\n`, 5);
    expect(refused).toMatchObject([{ id: null }]);
  }
});

/** A transport with the other ends of its streams. */
function connect() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StdioTransport(input, output);
  const taken: unknown[] = [];
  const problems: string[] = [];
  transport.onmessage = (message) => taken.push(message);
  transport.onerror = ({ message }) => problems.push(message);
  void transport.start();
  return { input, output, transport, taken, problems };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('a client that does not read its answers is not read from until it does', async () => {
  const { input, output, taken } = connect();
  output.write(Buffer.alloc(17 * 1024 * 1024));
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  input.write(`${JSON.stringify(message)}\n`);
  await nextTurn();
  input.write(`${JSON.stringify(message)}\n`);
  await nextTurn();
  expect(taken).toEqual([message]);
  output.resume();
  await once(output, 'drain');
  await nextTurn();
  expect(taken).toEqual([message, message]);
});

test('a message is sent when the client has room for it', async () => {
  const { output, transport } = connect();
  const message = { jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(1024 * 1024) } } as const;
  let isSent = false;
  const sending = transport.send(message).then(() => {
    isSent = true;
  });
  await nextTurn();
  expect(isSent).toBe(false);
  output.resume();
  await sending;
});

test.each(['NaN', 'Infinity', '-Infinity'])(
  '%s is refused by the id of its message, and is fine in a text',
  async (number) => {
    const { input, output, taken, problems } = connect();
    const fine = { jsonrpc: '2.0', id: 1, method: 'ping', params: { a: number } };
    input.write(`{"jsonrpc":"2.0","id":7,"params":{"a":${number}}}\n${JSON.stringify(fine)}\n`);
    await once(output, 'readable');
    const message = expect.stringContaining('replace NaN and Infinity');
    expect(JSON.parse(String(output.read()))).toMatchObject({ id: 7, error: { message } });
    expect({ taken, problems }).toEqual({ taken: [fine], problems: [message] });
  },
);

test('a line that is JSON and no message is reported, and the next one is taken', async () => {
  const { input, taken, problems } = connect();
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  for (const line of ['[]', '1', 'null', '{"id":1}']) input.write(`${line}\n`);
  input.write(`not JSON\n${JSON.stringify(message)}\n`);
  await nextTurn();
  expect(taken).toEqual([message]);
  expect(problems).toHaveLength(4);
});

test('the end of the input closes the transport once, and it sends nothing more', async () => {
  const { input, transport } = connect();
  let closed = 0;
  transport.onclose = () => {
    closed += 1;
  };
  input.end();
  await once(input, 'close');
  await transport.close();
  expect(closed).toBe(1);
  await expect(transport.send({ jsonrpc: '2.0', id: 1, result: {} })).rejects.toThrow('closed');
});
