import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Refused } from '../src/message-scan.js';
import { StdioInput } from '../src/stdio.js';

const LIMITS = { bytes: 200, depth: 5, containers: 10, keys: 10, ownKeys: 9, values: 20 };

/** What is read and what is refused of these bytes, in pieces of some size. */
async function readInPieces(text: string, size: number) {
  const refused: Refused[] = [];
  const input = new StdioInput(new PassThrough(), (one) => refused.push(one), LIMITS);
  const lines: string[] = [];
  input.on('data', (line: Buffer) => lines.push(line.toString()));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) input.write(bytes.subarray(at, at + size));
  input.end();
  await once(input, 'end');
  return { lines, refused };
}

test('lines within the limits come through as they are, each whole, however they were cut', async () => {
  const line = fc.string({
    unit: fc.constantFrom('a', '"', '{', '}', '[', ']', '\\\\', ':', 'ż'),
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 9 }), fc.integer({ min: 1, max: 50 }), async (all, size) => {
      const { lines, refused } = await readInPieces(all.map((one) => `${one}\n`).join(''), size);
      expect(refused).toEqual([]);
      expect(lines).toEqual(all.map((one) => `${one}\n`));
    }),
  );
});

test.each([
  ['bytes', `"${'x'.repeat(300)}"`],
  ['levels of nesting', '[[[[[[]]]]]]'],
  ['lists and objects', `[${'[],'.repeat(10)}[]]`],
  ['names in objects', `{${'"a":1,'.repeat(11)}"b":1}`],
  ['values', `[${'1,'.repeat(21)}1]`],
])('too many %s are refused by their id, whichever side of them it is on', async (limit, json) => {
  for (const size of [1, 7, 10_000]) {
    for (const message of [`{"id":"a b","params":${json}}`, `{"params":${json} , "id" : "a b" }`]) {
      const { lines, refused } = await readInPieces(`${message}\n{"id":2}\n`, size);
      expect(refused).toEqual([{ id: 'a b', problem: expect.stringMatching(` \\d+ ${limit}: split it`) }]);
      expect(lines).toEqual(['{"id":2}\n']);
    }
  }
});

test('what is in texts does not count, and an id that is nested or no id is not taken for one', async () => {
  const texts = `{"a":"${'[{:,'.repeat(20)}","b":"\\"[[[[[[[[","c":"\\\\"}`;
  expect(await readInPieces(`${texts}\n`, 3)).toEqual({ lines: [`${texts}\n`], refused: [] });
  for (const id of ['{"id":1}', '[1]', '1e5', 'null', '"\\u0041"', `"${'x'.repeat(400)}"`]) {
    const { refused } = await readInPieces(`{"params":[[[[[[]]]]]],"id":${id}}\n`, 5);
    expect(refused).toMatchObject([{ id: null }]);
  }
});

test('a client that does not read its answers is not read from until it does', async () => {
  const output = new PassThrough();
  const input = new StdioInput(output, () => {});
  input.resume();
  output.write(Buffer.alloc(17 * 1024 * 1024));
  let isTaken = false;
  input.write('{}\n', () => {
    isTaken = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTaken).toBe(false);
  output.resume();
  await once(output, 'drain');
  await new Promise((resolve) => setImmediate(resolve));
  expect(isTaken).toBe(true);
});

test.each(['NaN', 'Infinity', '-Infinity'])(
  '%s is refused by the id of its message, and is fine in a text',
  async (number) => {
    const fine = `{"id":1,"params":{"a":"${number}"}}\n`;
    const { lines, refused } = await readInPieces(`{"id":7,"params":{"a":${number}}}\n${fine}`, 5);
    expect(refused).toEqual([{ id: 7, problem: expect.stringContaining('replace NaN and Infinity') }]);
    expect(lines).toEqual([fine]);
  },
);
