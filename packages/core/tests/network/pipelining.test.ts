import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { clientHello } from './client-hello.js';
import { type RawServer, serveRaw } from './raw-server.js';
import { serveOutside, World } from './world.js';

let silent: RawServer;
let here: string;
let world: World;
/** How many connections the host ever had. */
let connected = 0;

beforeEach(async () => {
  connected = 0;
  silent = await serveRaw((socket) => {
    connected += 1;
    socket.resume();
  });
  here = `127.0.0.1:${silent.port}`;
  world = await World.open([here]);
});
afterEach(async () => {
  await world.close();
  silent.close();
});

const get = (host: string, path = '/') => `GET http://${host}${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

describe('of requests that come together', () => {
  test('one is passed on at a time, and a thousand cut the connection', async () => {
    const call = world.call();
    call.say(get(here).repeat(10));
    await until(() => connected === 1, 'the first one is passed on');
    const other = world.call();
    other.say(get(here).repeat(1000));
    expect(await other.all()).toBe('');
    await until(() => silent.open.size === 1, 'its connection to the host is cut as well');
    expect([call.isClosed, connected]).toEqual([false, 2]);
    call.socket.destroy();
    await until(() => silent.open.size === 0, 'nothing is left open for who has hung up');
    expect(connected).toBe(2);
  });

  test('each is answered, in their order', async () => {
    const outside = await serveOutside('http');
    const own = await World.open([`127.0.0.1:${outside.port}`]);
    const paths = Array.from({ length: 12 }, (_, index) => `/${index}.`);
    const call = own.call();
    call.say(paths.map((path) => get(`127.0.0.1:${outside.port}`, path)).join(''));
    const heard = await call.hear('hello from /11.');
    expect(heard.match(/hello from \/\d+\./g)).toEqual(paths.map((path) => `hello from ${path}`));
    expect(outside.requests).toHaveLength(12);
    await own.close();
    outside.close();
  });

  test('none is passed on after an answer that closes the connection', async () => {
    const outside = await serveOutside('http');
    const [listed, own] = [`127.0.0.1:${outside.port}`, await World.open([`127.0.0.1:${outside.port}`])];
    const heard = await own.ask(get('evil.example') + get(listed));
    expect(heard.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(outside.requests).toEqual([]);
    await own.close();
    outside.close();
  });

  test('a tunnel cannot be the second', async () => {
    const call = world.call();
    call.say(`${get(here)}CONNECT ${here} HTTP/1.1\r\nHost: ${here}\r\n\r\n`);
    expect(await call.all()).toBe('');
    await until(() => silent.open.size === 0, 'nothing is left open');
  });
});

test('who hangs up while the host does not answer leaves nothing open', async () => {
  const calls = Array.from({ length: 20 }, () => world.call());
  for (const call of calls) call.say(get(here));
  await until(() => silent.open.size === 20, 'all are passed on');
  for (const call of calls) call.socket.destroy();
  await until(() => silent.open.size === 0, 'all are cut');
});

describe('a host that does not read', () => {
  const PIECE = Buffer.alloc(64 * 1024, 'x');
  const PIECES = 1024;

  test.each(['a request', 'a tunnel'])(
    'stops %s: the proxy does not gather what it cannot pass on',
    async (way) => {
      const deaf = await serveRaw((socket) => socket.pause());
      const name = `127.0.0.1:${deaf.port}`;
      const own = await World.open([name]);
      const call = own.call();
      if (way === 'a request')
        call.say([
          `POST http://${name}/ HTTP/1.1`,
          `Host: ${name}`,
          `Content-Length: ${PIECES * PIECE.length}`,
        ]);
      else {
        call.say([`CONNECT ${name} HTTP/1.1`, `Host: ${name}`]);
        await call.hear('established');
        call.say(await clientHello());
      }
      let taken = 0;
      const sendNext = () => {
        if (taken === PIECES) return;
        call.socket.write(PIECE, () => {
          taken += 1;
          sendNext();
        });
      };
      sendNext();
      let [before, still] = [0, 0];
      await until(() => {
        still = taken > 0 && taken === before ? still + 1 : 0;
        before = taken;
        return still > 30;
      }, 'nothing moves any more');
      expect([call.isClosed, taken < PIECES / 2]).toEqual([false, true]);
      await own.close();
      deaf.close();
    },
  );
});
