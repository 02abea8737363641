import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type RawServer, serveRaw } from './raw-server.js';
import { World } from './world.js';

/** What the host says next, before it hangs up. */
let answers: Buffer[] = [];
let host: RawServer;
let here: string;
let world: World;

beforeAll(async () => {
  host = await serveRaw((socket) =>
    socket.once('data', (asked: Buffer) => {
      const index = Number(/^[A-Z]+ \/(\d+) /.exec(asked.toString('latin1'))?.[1]);
      socket.end(answers[index] ?? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi');
    }),
  );
  here = `127.0.0.1:${host.port}`;
  world = await World.open([here]);
});

afterAll(async () => {
  await world.close();
  host.close();
});

const get = (path: string) => [`GET http://${here}${path} HTTP/1.1`, `Host: ${here}`, 'Connection: close'];

/** A listener that throws would have ended the server, and with it this test. */
afterEach(async () => {
  expect(await world.ask(get('/fine'))).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nhi$/s);
});

const AT_A_TIME = 50;

/** What a run hears for each of these answers of the host. */
async function passOn(said: (string | Buffer)[]): Promise<string[]> {
  const heard: string[] = [];
  answers = said.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : one));
  for (let at = 0; at < said.length; at += AT_A_TIME) {
    const batch = said.slice(at, at + AT_A_TIME);
    heard.push(...(await Promise.all(batch.map((_, index) => world.ask(get(`/${at + index}`))))));
  }
  answers = [];
  return heard;
}

const ANSWER = /^(HTTP\/1\.1 [2-5]\d\d [\x20-\x7e]*\r\n|$)/;
const BODY = 'Content-Length: 2\r\n\r\nhi';

describe('a host', () => {
  const STATUSES =
    '000 001 042 099 100 101 102 103 150 199 200 201 204 205 226 299 304 399 418 451 499 511 599'
      .concat(' 600 700 999 1000 20 2 -1 +200 0x1 abc 2e2')
      .split(' ');
  const REASONS = ['OK', '', 'a\x01b', '\x00', '\x7f', 'h\xe9', '\x1b[31mred', 'a\tb', 'x'.repeat(9000)];
  const LINES = STATUSES.flatMap((status) => REASONS.map((reason) => [status, reason] as const));

  test(`with an odd status or odd words for it is survived (${LINES.length})`, async () => {
    const heard = await passOn(LINES.map(([status, reason]) => `HTTP/1.1 ${status} ${reason}\r\n${BODY}`));
    for (const [index, answer] of heard.entries()) {
      const [status, reason] = LINES[index]!;
      const said = JSON.stringify([status, reason.slice(0, 20)]);
      expect(answer, said).toMatch(ANSWER);
      if (!/^[2-5]\d\d$/.test(status)) expect(answer, said).toMatch(/^HTTP\/1\.1 502 /);
      expect(answer, said).not.toMatch(/xxxx|\[31m|a.b\r\n/);
    }
    const plain = LINES.findIndex(([status, reason]) => status === '200' && reason === 'a\x01b');
    expect(heard[plain]).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\nhi$/s);
  });

  const ODD: [name: string, said: string][] = [
    ['says nothing', ''],
    ['says a line alone', 'HTTP/1.1 200 OK\r\n'],
    ['speaks another protocol', 'SSH-2.0-x\r\n'],
    ['speaks another version', `HTTP/9.9 200 OK\r\n${BODY}`],
    ['speaks HTTP/0.9', '<html></html>'],
    ['speaks RTSP', `RTSP/1.0 200 OK\r\n${BODY}`],
    ['has a control character in a header', `HTTP/1.1 200 OK\r\nX: a\x01b\r\n${BODY}`],
    ['has a zero in a header', `HTTP/1.1 200 OK\r\nX: a\0b\r\n${BODY}`],
    ['has high bytes in a header', `HTTP/1.1 200 OK\r\nX: \xff\xfe\r\n${BODY}`],
    ['has a header without a name', `HTTP/1.1 200 OK\r\n: x\r\n${BODY}`],
    ['has a header with a space in it', `HTTP/1.1 200 OK\r\nX Y: x\r\n${BODY}`],
    ['has the header __proto__', `HTTP/1.1 200 OK\r\n__proto__: x\r\n${BODY}`],
    ['has it twice', `HTTP/1.1 200 OK\r\n__proto__: x\r\n__proto__: y\r\n${BODY}`],
    ['has the header constructor', `HTTP/1.1 200 OK\r\nconstructor: x\r\nhasOwnProperty: y\r\n${BODY}`],
    ['has a folded header', `HTTP/1.1 200 OK\r\nX: a\r\n b\r\n${BODY}`],
    ['has many headers', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(3000)}${BODY}`],
    ['has a long header', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n${BODY}`],
    ['has two lengths', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi`],
    ['has a list of lengths', `HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nhi`],
    ['has a negative length', `HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhi`],
    ['has a length without end', `HTTP/1.1 200 OK\r\nContent-Length: ${'9'.repeat(40)}\r\n\r\nhi`],
    ['says less than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi'],
    ['says more than its length', `HTTP/1.1 200 OK\r\n${BODY}hi and more`],
    ['names its length as of the connection', `HTTP/1.1 200 OK\r\nConnection: content-length\r\n${BODY}`],
    ['has length and chunks', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${BODY}`],
    ['has an unknown encoding', `HTTP/1.1 200 OK\r\nTransfer-Encoding: magic\r\n\r\nhi`],
    [
      'has a chunk that is none',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n',
    ],
    ['has a huge chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhi'],
    ['ends amid its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n'],
    [
      'has trailers',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nhi\r\n0\r\nx: y\r\n__proto__: z\r\n\r\n',
    ],
    [
      'has a bad trailer',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x\r\n\r\n2\r\nhi\r\n0\r\nx: \x01\r\n\r\n',
    ],
    [
      'has long trailers',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(9000)}\r\n`,
    ],
    ['has a trailer and no chunks', `HTTP/1.1 200 OK\r\nTrailer: x\r\n${BODY}`],
    ['answers twice', `HTTP/1.1 200 OK\r\n${BODY}HTTP/1.1 200 OK\r\n${BODY}`],
    ['has a body where none is', `HTTP/1.1 204 No Content\r\n${BODY}`],
    ['has a body with 304', `HTTP/1.1 304 Not Modified\r\n${BODY}`],
    ['has hints', `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\n${BODY}`],
    ['has odd hints', `HTTP/1.1 103 \x01\r\n__proto__: x\r\n\r\nHTTP/1.1 200 OK\r\n${BODY}`],
    ['says continue unasked', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n${BODY}`],
    ['has nothing but hints', 'HTTP/1.1 103 x\r\n\r\n'.repeat(100_000)],
    ['upgrades', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhi'],
    ['upgrades without a name', 'HTTP/1.1 101 Switching\r\n\r\nhi'],
    ['names an upgrade in its answer', `HTTP/1.1 200 OK\r\nUpgrade: h2c\r\nConnection: upgrade\r\n${BODY}`],
  ];
  test.each(ODD)('that %s is survived', async (_, said) => {
    const [heard] = await passOn([said]);
    expect(heard).toMatch(ANSWER);
  });

  test('that switches to another protocol unasked is not waited for, though it hangs on', async () => {
    const silent = await serveRaw((socket) =>
      socket.once('data', () => socket.write('HTTP/1.1 101 Sw\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')),
    );
    const own = await World.open([`127.0.0.1:${silent.port}`]);
    const [url, name] = [`http://127.0.0.1:${silent.port}/`, `127.0.0.1:${silent.port}`];
    expect(await own.ask([`GET ${url} HTTP/1.1`, `Host: ${name}`])).toMatch(/^HTTP\/1\.1 502 /);
    await own.close();
    silent.close();
  });

  test('that informs without end is not waited for', async () => {
    const chatty = await serveRaw((socket) => {
      const more = () =>
        socket.writable && socket.write('HTTP/1.1 103 x\r\n\r\n'.repeat(10), () => setImmediate(more));
      socket.once('data', more);
    });
    const own = await World.open([`127.0.0.1:${chatty.port}`]);
    const name = `127.0.0.1:${chatty.port}`;
    expect(await own.ask([`GET http://${name}/ HTTP/1.1`, `Host: ${name}`])).toMatch(/^HTTP\/1\.1 502 /);
    await own.close();
    chatty.close();
  });

  test('that says whatever is survived', async () => {
    const byte = fc.integer({ min: 0, max: 255 }).map((value) => String.fromCharCode(value));
    const noise = fc.array(byte, { maxLength: 40 }).map((bytes) => bytes.join(''));
    const pieces = fc.constantFrom(
      'HTTP/1.1 ',
      '200',
      '099',
      '101',
      ' ',
      '\r\n',
      '\r\n\r\n',
      ': ',
      BODY,
      'Trailer',
    );
    const said = fc.array(fc.oneof(pieces, pieces, noise), { maxLength: 14 }).map((parts) => parts.join(''));
    const started = fc
      .tuple(fc.boolean(), said)
      .map(([isHttp, rest]) => (isHttp ? `HTTP/1.1 200 ${rest}` : rest));
    for (const answer of await passOn(fc.sample(started, { numRuns: 400, seed: 7 })))
      expect(answer).toMatch(ANSWER);
  });
});

describe('a run', () => {
  const METHODS = [
    'GET',
    'HEAD',
    'POST',
    'DELETE',
    'OPTIONS',
    'CONNECT',
    'TRACE',
    'PROPFIND',
    'PRI',
    'get',
    '',
  ];
  const targets = () => [
    `http://${here}/x`,
    here,
    '/',
    '*',
    'http://[',
    `http://${here}/\x80\xff`,
    'http://\0/',
    '',
  ];
  const HEADERS = [
    '__proto__: x',
    'Connection: __proto__, host, content-length, :',
    'Content-Length: 5\r\nConnection: content-length',
    'Transfer-Encoding: chunked',
    'Trailer: __proto__\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n__proto__: x\r\n',
    'Expect: 100-continue',
    'Expect: everything',
    'Upgrade: websocket\r\nConnection: upgrade',
    'X: \xff\x80',
  ];

  test('that asks in odd ways is survived', async () => {
    const requests = METHODS.flatMap((method) =>
      targets().flatMap((target) =>
        HEADERS.map((header) => `${method} ${target} HTTP/1.1\r\nHost: ${here}\r\n${header}\r\n\r\n`),
      ),
    );
    expect(requests.length).toBeGreaterThan(700);
    for (let at = 0; at < requests.length; at += AT_A_TIME)
      await Promise.all(requests.slice(at, at + AT_A_TIME).map((request) => hangUpAfter(request)));
  });

  test('that says whatever is survived', async () => {
    const pieces = fc.constantFrom(
      `GET http://${'HERE'}/ HTTP/1.1`,
      'CONNECT HERE HTTP/1.1',
      'Host: HERE',
      '\r\n',
      '\x16\x03\x01',
    );
    const noise = fc.string({ maxLength: 20, unit: 'binary' });
    const said = fc.array(fc.oneof(pieces, pieces, noise), { maxLength: 10 });
    const requests = fc.sample(said, { numRuns: 300, seed: 7 });
    for (let at = 0; at < requests.length; at += AT_A_TIME)
      await Promise.all(
        requests
          .slice(at, at + AT_A_TIME)
          .map((parts) => hangUpAfter(parts.join('\r\n').replaceAll('HERE', here))),
      );
  });

  /** Says it and ends; whatever the proxy makes of it, it must let go of the connection. */
  async function hangUpAfter(request: string): Promise<void> {
    const call = world.call();
    call.socket.end(Buffer.from(request, 'latin1'));
    await call.all();
  }
});
