import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { Call, headersOf, type Outside, RUN, serveOutside, World } from './world.js';

let outside: Outside;
let world: World;
let here: string;

beforeEach(async () => {
  outside = await serveOutside('http', (request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    response.setHeader('x-seen', headersOf(request).join(' | '));
    response.setHeader('keep-alive', 'timeout=9');
    response.end(request.url === '/big' ? 'x'.repeat(3_000_000) : `hello from ${request.url}`);
  });
  here = `127.0.0.1:${outside.port}`;
  world = await World.open([here]);
});

afterEach(async () => {
  await world.close();
  outside.close();
});

const get = (url: string, host: string, ...more: string[]) => [
  `GET ${url} HTTP/1.1`,
  `Host: ${host}`,
  'Connection: close',
  ...more,
];

describe('a request to a listed host', () => {
  test('is passed on with its path as it was written, and recorded', async () => {
    const answer = await world.ask(get(`http://${here}/a/../b//c%2F?x=%20&y`, here));
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer).toContain('hello from /a/../b//c%2F?x=%20&y');
    expect(outside.requests).toEqual([`GET /a/../b//c%2F?x=%20&y ${here} `]);
    expect(world.decisions).toEqual([
      { run: RUN, host: '127.0.0.1', port: outside.port, allowed: true, reason: null, isLast: false },
    ]);
  });

  test('leaves out what is about the connection, and what was meant for the proxy', async () => {
    const answer = await world.ask(
      get(
        `http://${here}/`,
        here,
        'Proxy-Authorization: Basic eDp5',
        'Proxy-Connection: keep-alive',
        'Keep-Alive: 9',
        'TE: trailers',
        'X-Kept: yes',
        'X-Hop: no',
        'Connection: X-Hop',
        'Expect: 100-continue',
      ),
    );
    const seen = /x-seen: (.*)\r\n/.exec(answer)?.[1];
    expect(seen).toBe(`x-kept: yes | host: ${here} | connection: close`);
    expect(answer).not.toContain('timeout=9');
    expect(answer.match(/set-cookie: .=./g)).toEqual(['set-cookie: a=1', 'set-cookie: b=2']);
  });

  test.each([
    ['with its length', ['Content-Length: 3', '', 'abc']],
    ['in chunks', ['Transfer-Encoding: chunked', '', '2', 'ab', '1', 'c', '0']],
  ])('takes its body along, %s', async (_, rest) => {
    await world.ask([`POST http://${here}/p HTTP/1.1`, `Host: ${here}`, 'Connection: close', ...rest]);
    expect(outside.requests).toEqual([`POST /p ${here} abc`]);
  });

  test('that is a GET takes a body in chunks along as its body, not as another request', async () => {
    const inner = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
    const body = [inner.length.toString(16), inner, '0'];
    await world.ask(get(`http://${here}/`, here, 'Transfer-Encoding: chunked', '', ...body));
    expect(outside.requests).toEqual([`GET / ${here} ${inner}`]);
  });

  test('gives a large answer whole', async () => {
    const answer = await world.ask(get(`http://${here}/big`, here));
    expect(answer.match(/x/g)!.length).toBeGreaterThanOrEqual(3_000_000);
  });

  test('may name no Host where HTTP/1.0 does not', async () => {
    expect(await world.ask([`GET http://${here}/ HTTP/1.0`])).toContain('hello from /');
  });

  test('that does not answer is told so', async () => {
    const { port } = outside;
    outside.close();
    const answer = await world.ask(get(`http://${here}/`, here));
    expect(answer).toContain(`HTTP/1.1 502 Bad Gateway: 127.0.0.1:${port} could not be reached.`);
  });
});

describe('each request of a connection is judged anew', () => {
  test('the second one, to another host', async () => {
    const call = world.call();
    call.say([`GET http://${here}/one HTTP/1.1`, `Host: ${here}`]);
    await call.hear('hello from /one');
    call.say(['GET http://evil.example/ HTTP/1.1', 'Host: evil.example']);
    expect(await call.all()).toMatch(/403 Forbidden: The profile does not allow evil\.example:80/);
    expect(world.refusals).toEqual(['evil.example:80']);
  });

  test('and those that came together', async () => {
    const call = world.call();
    call.say([
      `GET http://${here}/one HTTP/1.1`,
      `Host: ${here}`,
      '',
      'GET http://evil.example/ HTTP/1.1',
      'Host: evil.example',
    ]);
    const heard = await call.all();
    expect(heard).toContain('hello from /one');
    expect(heard).toContain('403 Forbidden');
    expect(outside.requests).toEqual([`GET /one ${here} `]);
  });
});

test('a refusal names the host, the list and what to do, in its status line and in its text', async () => {
  const answer = await world.ask(get('http://evil.example/secret', 'evil.example'));
  const sentence = `The profile does not allow evil.example:80; its network.allow lists ${here}. Add "evil.example" there to reach it.`;
  expect(answer).toContain(`HTTP/1.1 403 Forbidden: ${sentence}\r\n`);
  expect(answer.split('\r\n\r\n')[1]).toContain(sentence);
  expect(world.decisions).toEqual([
    { run: RUN, host: 'evil.example', port: 80, allowed: false, reason: sentence, isLast: false },
  ]);
});

test('what a run asks for again is recorded once', async () => {
  for (let turn = 0; turn < 3; turn += 1) await world.ask(get('http://evil.example/', 'evil.example'));
  expect(world.decisions).toHaveLength(1);
});

test('a run that asks for a thousand hosts loses its network, and the record ends with the reason', async () => {
  const askFor = (number: number) => world.ask(get(`http://h${number}.example/`, `h${number}.example`));
  for (let batch = 0; batch < 1000; batch += 50)
    await Promise.all(Array.from({ length: 50 }, (_, index) => askFor(batch + index)));
  expect(world.decisions).toHaveLength(1000);
  const call = world.call();
  expect(await askFor(1000)).toBe('');
  expect(world.decisions).toHaveLength(1001);
  expect(world.decisions.at(-1)).toMatchObject({
    reason: expect.stringContaining('too many different hosts'),
    isLast: true,
  });
  await until(() => call.isClosed, 'its other connections are cut');
});

describe('only a whole http address of the host that the Host header names is passed on', () => {
  const port = () => outside.port;
  const ROWS: [name: string, lines: () => string[], status: number][] = [
    ['another Host header', () => get(`http://${here}/`, 'evil.example'), 400],
    ['another port in the Host header', () => get(`http://${here}/`, '127.0.0.1:1'), 400],
    ['no port in the Host header', () => get(`http://${here}/`, '127.0.0.1'), 400],
    ['two Host headers', () => get(`http://${here}/`, here, 'Host: evil.example'), 400],
    ['no Host header', () => [`GET http://${here}/ HTTP/1.1`, 'Connection: close'], 400],
    ['a path alone', () => get('/', here), 400],
    ['an address without scheme', () => get(`//${here}/`, here), 400],
    ['another scheme', () => get(`ftp://${here}/`, here), 400],
    ['https without CONNECT', () => get(`https://${here}/`, here), 400],
    ['a user in the address', () => get(`http://user@${here}/`, here), 400],
    ['a listed host as the user', () => get(`http://${here}@evil.example/`, here), 400],
    ['a backslash', () => get(`http://${here}\\@evil.example/`, here), 400],
    ['an escape in the host', () => get(`http://127.0.0.1%2eevil.example:${port()}/`, here), 400],
    ['a port that is none', () => get('http://127.0.0.1:99999/', here), 400],
    ['an empty host', () => get('http:///', here), 400],
    ['a fragment', () => get(`http://${here}/#x`, here), 400],
    ['TRACE', () => [`TRACE http://${here}/ HTTP/1.1`, `Host: ${here}`, 'Connection: close'], 400],
    [
      'an upgrade to WebSocket',
      () => get(`http://${here}/`, here, 'Upgrade: websocket', 'Connection: upgrade'),
      400,
    ],
    [
      'an upgrade to HTTP/2',
      () =>
        get(
          `http://${here}/`,
          here,
          'Upgrade: h2c',
          'HTTP2-Settings: AAMAAABk',
          'Connection: Upgrade, HTTP2-Settings',
        ),
      400,
    ],
    ['the beginning of HTTP/2', () => ['PRI * HTTP/2.0', '', 'SM'], 400],
    [
      'length and chunks',
      () => get(`http://${here}/`, here, 'Content-Length: 3', 'Transfer-Encoding: chunked', '', '0'),
      400,
    ],
    [
      'two lengths',
      () => get(`http://${here}/`, here, 'Content-Length: 3', 'Content-Length: 4', '', 'abcd'),
      400,
    ],
    ['a length with a sign', () => get(`http://${here}/`, here, 'Content-Length: +3', '', 'abc'), 400],
    [
      'another transfer encoding',
      () => get(`http://${here}/`, here, 'Transfer-Encoding: gzip, chunked', '', '0'),
      400,
    ],
    [
      'a hidden transfer encoding',
      () => get(`http://${here}/`, here, 'Transfer-Encoding: xchunked', '', '0'),
      400,
    ],
    [
      'a space before the colon',
      () => get(`http://${here}/`, here, 'Transfer-Encoding : chunked', '', '0'),
      400,
    ],
    [
      'a folded header',
      () => get(`http://${here}/`, here, 'X: a', ' Transfer-Encoding: chunked', '', '0'),
      400,
    ],
    ['a bare line feed', () => [`GET http://${here}/ HTTP/1.1\nHost: ${here}\nConnection: close\n\n`], 400],
    ['a zero byte', () => get(`http://${here}/\0`, here), 400],
    ['too long headers', () => get(`http://${here}/`, here, `X: ${'x'.repeat(40_000)}`), 431],
    [
      'too many headers in all',
      () => get(`http://${here}/`, here, ...Array.from({ length: 3000 }, (_, i) => `X-${i}: yyyyyyyyy`)),
      431,
    ],
    ['something else than HTTP', () => ['SSH-2.0-OpenSSH_9.0'], 400],
  ];

  test.each(ROWS)('not %s', async (_, lines, status) => {
    const answer = await world.ask(lines());
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(outside.requests).toEqual([]);
  });
});

describe('a run', () => {
  test('that was not admitted is not answered', async () => {
    expect(await world.ask(get(`http://${here}/`, here), 'stranger.0')).toBe('');
    expect(outside.requests).toEqual([]);
  });

  test('that says no name is not waited for', async () => {
    const impatient = await World.open([here], {}, { caller: 50 });
    expect(await impatient.ask('', '')).toBe('');
    await impatient.close();
  });

  test('whose name has no end is cut off', async () => {
    const call = new Call(connect(world.door.socket));
    call.say('x'.repeat(1000));
    expect(await call.all()).toBe('');
  });

  test('that has ended loses its connections and gets no new ones', async () => {
    const slow = await serveOutside('http', () => {});
    const other = await World.open([`127.0.0.1:${slow.port}`]);
    const [parked, busy] = [other.call(), other.call()];
    busy.say(get(`http://127.0.0.1:${slow.port}/`, `127.0.0.1:${slow.port}`));
    await until(() => slow.requests.length === 1, 'the request has arrived');
    other.leave();
    expect(await busy.all()).toBe('');
    expect(await parked.all()).toBe('');
    expect(await other.ask(get(`http://127.0.0.1:${slow.port}/`, `127.0.0.1:${slow.port}`))).toBe('');
    await other.close();
    slow.close();
  });

  test('that is slow with its headers is not waited for', async () => {
    const impatient = await World.open([here], {}, { headers: 100 });
    const call = impatient.call();
    call.say('GET http://');
    expect(await call.all()).toMatch(/^HTTP\/1\.1 408 /);
    await impatient.close();
  });

  test('that does nothing for long is cut off', async () => {
    const impatient = await World.open([here], {}, { idle: 100 });
    const call = impatient.call();
    call.say([`GET http://${here}/one HTTP/1.1`, `Host: ${here}`]);
    expect(await call.all()).toContain('hello from /one');
    await impatient.close();
  });

  test('with a thousand connections has 128 of them, and another run has its own', async () => {
    const leave = world.door.admit('other.0', 'other');
    const calls = Array.from({ length: 1000 }, () => world.call());
    await until(() => calls.filter(({ isClosed }) => isClosed).length === 872, 'the others are turned away');
    // Node's own queue turns some of them away before they are heard.
    const told = calls.filter(({ heard }) => heard !== '');
    expect(told.every(({ heard }) => heard.startsWith('HTTP/1.1 503'))).toBe(true);
    expect(told.length).toBeGreaterThan(0);
    expect(await world.ask(get(`http://${here}/mine`, here), 'other.0')).toContain('hello from /mine');
    leave();
  });
});

test('the folder of the socket is for its owner alone, and gone when it is closed', async () => {
  const folder = dirname(world.door.socket);
  expect(existsSync(folder)).toBe(true);
  await world.close();
  expect(existsSync(folder)).toBe(false);
});
