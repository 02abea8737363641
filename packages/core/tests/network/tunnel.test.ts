import { once } from 'node:events';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { makeCertificate } from './certificate.js';
import { clientHello, extension, helloWith, inRecords, nameExtension } from './client-hello.js';
import { type Call, type Outside, serveOutside, World } from './world.js';

const NAME = 'api.example.com';
/** A handshake record. */
const SERVER_HELLO = '\x16\x03\x03';
/** TLS for "access denied". */
const DENIED = 'HTTP/1.1 200 Connection established\r\n\r\n\x15\x03\x03\x00\x02\x021';
let outside: Outside;
let world: World;
let target: string;

beforeEach(async () => {
  outside = await serveOutside('https');
  target = `${NAME}:${outside.port}`;
  // The name is listed, and so is the very address that it leads to.
  world = await World.open([target, `127.0.0.1:${outside.port}`], {
    [NAME]: ['127.0.0.1'],
    'other.example.com': ['127.0.0.1'],
  });
});

afterEach(async () => {
  await world.close();
  outside.close();
});

const CONNECT = (to: string, ...more: string[]) => [`CONNECT ${to} HTTP/1.1`, `Host: ${to}`, ...more];

async function established(to = target): Promise<Call> {
  const call = world.call();
  call.say(CONNECT(to));
  expect(await call.hear('\r\n\r\n')).toBe('HTTP/1.1 200 Connection established\r\n\r\n');
  return call;
}

async function tls(socket: Socket, servername: string): Promise<TLSSocket> {
  socket.removeAllListeners('data');
  const client = connectTls({ socket, servername, ca: makeCertificate().cert });
  await once(client, 'secureConnect');
  return client;
}

async function fetchThrough(call: Call, path: string): Promise<string> {
  const client = await tls(call.socket, NAME);
  const asked = request({ createConnection: () => client, path, headers: { host: NAME } }).end();
  const [answer] = await once(asked, 'response');
  return text(answer);
}

describe('HTTPS to a listed host', () => {
  test('passes, with the certificate of the host itself', async () => {
    expect(await fetchThrough(await established(), '/a')).toBe('hello from /a');
    expect(world.decisions).toMatchObject([{ host: NAME, port: outside.port, allowed: true }]);
  });

  test('by its address needs no name', async () => {
    const call = await established(`127.0.0.1:${outside.port}`);
    call.socket.removeAllListeners('data');
    const client = connectTls({ socket: call.socket, ca: makeCertificate().cert, host: '127.0.0.1' });
    await once(client, 'secureConnect');
    client.destroy();
  });

  test('may say its hello in the same breath', async () => {
    const call = world.call();
    call.say(
      Buffer.concat([Buffer.from(`${CONNECT(target).join('\r\n')}\r\n\r\n`), await clientHello(NAME)]),
    );
    expect(await call.hear(SERVER_HELLO)).toContain(`established\r\n\r\n${SERVER_HELLO}`);
  });

  test('may name the server in capitals', async () => {
    const call = await established();
    call.say(await clientHello('API.Example.com'));
    await call.hear(SERVER_HELLO);
    expect(call.isClosed).toBe(false);
  });

  test('may say its hello byte by byte, in the smallest records', async () => {
    const call = await established();
    for (const byte of inRecords(await clientHello(NAME), 1)) {
      call.say(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await call.hear(SERVER_HELLO);
    expect(call.isClosed).toBe(false);
  });
});

describe('after CONNECT nothing passes but TLS to the server that was named', () => {
  const ROWS: [name: string, said: () => Promise<Buffer> | Buffer, reason: RegExp][] = [
    [
      'a hello for another server',
      () => clientHello('other.example.com'),
      /named another server, "other\.example\.com"/,
    ],
    ['a hello for a name above', () => clientHello('example.com'), /named another server/],
    ['a hello for a name below', () => clientHello(`x.${NAME}`), /named another server/],
    [
      'a hello for another server, byte by byte',
      async () => inRecords(await clientHello('other.example.com'), 1),
      /named another server/,
    ],
    ['a hello without a name', () => clientHello(), /did not name its server/],
    [
      'an encrypted name',
      () => helloWith(nameExtension(NAME), extension(0xfe0d, Buffer.alloc(9))),
      /was encrypted/,
    ],
    ['two names', () => helloWith(nameExtension(NAME, 'other.example.com')), /Only TLS may pass/],
    ['HTTP', () => Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), /Only TLS may pass/],
    ['SSH', () => Buffer.from('SSH-2.0-x\r\n'), /Only TLS may pass/],
  ];

  test.each(ROWS)('%s', async (_, said, reason) => {
    const call = await established();
    call.say(await said());
    expect(await call.all()).toBe(DENIED);
    expect(world.decisions.at(-1)).toMatchObject({
      host: NAME,
      allowed: false,
      reason: expect.stringMatching(reason),
    });
    expect(outside.requests).toEqual([]);
  });

  test('and silence is not waited for', async () => {
    const impatient = await World.open([`127.0.0.1:${outside.port}`], {}, { hello: 50 });
    expect(await impatient.ask(CONNECT(`127.0.0.1:${outside.port}`))).toBe(DENIED);
    await impatient.close();
  });

  test('and who hangs up without a word is let go', async () => {
    const call = await established();
    call.socket.end();
    await call.all();
    expect(world.decisions.at(-1)?.reason).toContain('No TLS connection');
  });
});

describe('CONNECT is refused', () => {
  const ROWS: [name: string, lines: () => string[], status: number][] = [
    ['to a host that is not listed', () => CONNECT('evil.example:443'), 403],
    ['to another port', () => CONNECT(`${NAME}:22`), 403],
    ['to a name that leads to a listed address', () => CONNECT(`other.example.com:${outside.port}`), 403],
    ['to the metadata service', () => CONNECT('169.254.169.254:80'), 403],
    ['to another spelling of loopback', () => CONNECT('2130706434:443'), 403],
    ['to loopback by IPv6', () => CONNECT(`[::1]:${outside.port}`), 403],
    ['to loopback as IPv4 in IPv6', () => CONNECT(`[::ffff:127.0.0.1]:${outside.port}`), 403],
    ['without a port', () => CONNECT(NAME), 400],
    ['with an address', () => CONNECT(`https://${NAME}:443/`), 400],
    ['with a user', () => CONNECT(`user@${NAME}:443`), 400],
    ['with another Host header', () => [`CONNECT ${target} HTTP/1.1`, 'Host: evil.example:443'], 400],
  ];

  test.each(ROWS)('%s', async (_, lines, status) => {
    expect(await world.ask(lines())).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(world.decisions.filter(({ allowed }) => allowed)).toEqual([]);
  });

  test('with a sentence in the status line, where clients look', async () => {
    const answer = await world.ask(CONNECT('evil.example:443'));
    expect(answer.split('\r\n')[0]).toContain(
      'The profile does not allow evil.example:443; its network.allow lists',
    );
  });
});

test('a tunnel is cut when its run has ended', async () => {
  const call = await established();
  const client = await tls(call.socket, NAME);
  client.on('error', () => {}).resume();
  let isCut = false;
  client.once('end', () => (isCut = true));
  world.leave();
  await until(() => isCut, 'the tunnel is cut');
});

test('a tunnel in which nothing moves is cut', async () => {
  const impatient = await World.open([`127.0.0.1:${outside.port}`], {}, { idle: 100 });
  const call = impatient.call();
  call.say(CONNECT(`127.0.0.1:${outside.port}`));
  await call.hear('established');
  call.say(await clientHello());
  await call.hear(SERVER_HELLO);
  await until(() => call.isClosed, 'the tunnel is cut');
  await impatient.close();
});

test('a hello of tens of kilobytes is not gathered, however small its records are', async () => {
  const call = await established();
  const endless = Buffer.concat([Buffer.from([22, 3, 1, 0, 0, 1, 0, 0x7d, 0]), Buffer.alloc(30_000)]);
  call.say(inRecords(endless, 1).subarray(0, 40 * 1024));
  await new Promise(setImmediate);
  expect(call.isClosed).toBe(false);
  call.say(inRecords(endless, 1).subarray(40 * 1024));
  expect(await call.all()).toBe(DENIED);
  // Not that its time was over.
  expect(world.decisions.at(-1)?.reason).toContain('Only TLS may pass');
});
