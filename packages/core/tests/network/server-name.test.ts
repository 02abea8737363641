import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Hello, HelloReader } from '../../src/network/server-name.js';
import {
  clientHello,
  extension,
  helloAnd,
  helloWith,
  inRecords,
  nameExtension,
  record,
} from './client-hello.js';

const NAME = 'api.example.com';
const readHello = (data: Buffer): Hello => new HelloReader().take(data);

describe('the hello of a real client', () => {
  test('tells its server', async () => {
    expect(readHello(await clientHello(NAME))).toEqual({ kind: 'hello', serverName: NAME, hidesName: false });
  });

  test('without a server says so', async () => {
    expect(readHello(await clientHello())).toEqual({ kind: 'hello', serverName: null, hidesName: false });
  });

  test('is incomplete until its last byte', async () => {
    const hello = await clientHello(NAME);
    for (let length = 1; length < hello.length; length += 1)
      expect(readHello(hello.subarray(0, length)).kind, `${length} bytes`).toBe('incomplete');
  });

  test.each([1, 2, 3, 7, 100])('is read from records of %i bytes', async (size) => {
    expect(readHello(inRecords(await clientHello(NAME), size))).toMatchObject({ serverName: NAME });
  });

  test('may be followed by more', async () => {
    const more = Buffer.concat([await clientHello(NAME), record(Buffer.from([1, 2, 3]))]);
    expect(readHello(more)).toMatchObject({ serverName: NAME });
  });
});

/** The answer once it is final, for bytes that come in pieces. */
function readPieces(data: Buffer, sizes: number[]): Hello {
  const reader = new HelloReader();
  let hello: Hello = { kind: 'incomplete' };
  for (let at = 0, turn = 0; at < data.length && hello.kind === 'incomplete'; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    hello = reader.take(data.subarray(at, at + size));
    at += size;
  }
  return hello;
}

test('how the bytes are cut into records and pieces changes nothing', async () => {
  const hello = await clientHello(NAME);
  const sizes = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 700 }), sizes, (recordSize, pieces) => {
      expect(readPieces(inRecords(hello, recordSize), pieces)).toMatchObject({ serverName: NAME });
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...NO_HELLOS), sizes, ([, data], pieces) => {
      expect(readPieces(data, pieces)).toEqual({ kind: 'not-tls' });
    }),
  );
});

test('what follows the hello, such as early data, is not looked at', async () => {
  const early = Buffer.concat([
    await clientHello(NAME),
    record(Buffer.from([1]), 20),
    record(Buffer.from('x'), 23),
  ]);
  expect(readHello(early)).toMatchObject({ serverName: NAME });
});

const NO_HELLOS: [name: string, data: Buffer][] = [
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['SSH', Buffer.from('SSH-2.0-x\r\n')],
  ['the beginning of HTTP/2', Buffer.from('PRI * HTTP/2.0\r\n')],
  ['a letter', Buffer.from('G')],
  ['SSL 2', Buffer.from([0x80, 0x2e, 1, 0, 2])],
  ['an alert', record(Buffer.from([2, 40]), 21)],
  ['application data', record(Buffer.from('x'), 23)],
  ['another version', Buffer.from([22, 2, 0, 0, 4, 1, 0, 0, 0])],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
  ['a record that is too long', Buffer.from([22, 3, 1, 0x40, 0x01])],
  ['the hello of a server', record(Buffer.from([2, 0, 0, 2, 3, 3]))],
  ['a hello that is too long', record(Buffer.from([1, 1, 0, 0, 3, 3]))],
  ['a hello that ends in the middle', record(Buffer.from([1, 0, 0, 2, 3, 3]))],
  ['two names in one extension', helloWith(nameExtension(NAME, 'evil.example'))],
  ['two name extensions', helloWith(nameExtension(NAME), nameExtension('evil.example'))],
  ['a name of another kind', helloWith(extension(0, Buffer.from([0, 4, 1, 0, 1, 97])))],
  ['an empty list of names', helloWith(extension(0, Buffer.from([0, 0])))],
  ['a name longer than its list', helloWith(extension(0, Buffer.from([0, 4, 0, 0, 9, 97])))],
  ['more after the list of names', helloWith(extension(0, Buffer.from([0, 4, 0, 0, 1, 97, 9])))],
  ['more after the extensions', helloAnd(Buffer.from([9]), nameExtension(NAME))],
  ['an extension that is cut off', helloWith(Buffer.from([0, 0, 0, 99, 1]))],
];

describe('no hello is', () => {
  test.each(NO_HELLOS)('%s', (_, data) => {
    expect(readHello(data)).toEqual({ kind: 'not-tls' });
  });
});

test('a hello that encrypts its name is known', () => {
  const hello = helloWith(nameExtension(NAME), extension(0xfe0d, Buffer.alloc(20)));
  expect(readHello(hello)).toEqual({ kind: 'hello', serverName: NAME, hidesName: true });
});

test('no bytes at all make it fail', () => {
  const hello = helloWith(nameExtension(NAME));
  for (let at = 0; at < hello.length; at += 1)
    for (const value of [0, 1, 127, 255]) {
      const changed = Buffer.from(hello);
      changed[at] = value;
      expect(['incomplete', 'not-tls', 'hello']).toContain(readHello(changed).kind);
    }
});
