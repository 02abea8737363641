import { existsSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { packFrame } from '../../src/runtime/frames.js';
import { Listener } from '../../src/runtime/listener.js';
import type { Supervisor } from '../../src/runtime/supervisor.js';

let listener: Listener;
const sockets: Socket[] = [];

beforeEach(async () => {
  listener = new Listener();
  await listener.listening;
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.close();
});

async function call(): Promise<Socket & { isOver(): boolean }> {
  const socket = connect(listener.socket);
  sockets.push(socket);
  let isOver = false;
  socket.on('close', () => {
    isOver = true;
  });
  socket.on('error', () => {});
  socket.resume();
  await new Promise((resolve) => socket.once('connect', resolve));
  return Object.assign(socket, { isOver: () => isOver });
}

function expectOne() {
  const seen = { parked: [] as Supervisor[], failed: [] as string[] };
  const order = listener.expect(
    (supervisor) => seen.parked.push(supervisor),
    (reason) => seen.failed.push(reason),
  );
  return { ...order, seen, hello: packFrame('hello', JSON.stringify({ id: order.id, token: order.token })) };
}

const PARKED = packFrame('parked', JSON.stringify({ features: ['x'], python: '3.11', magic: 'm' }));

test('a supervisor with the right token parks its worker', async () => {
  const { seen, hello } = expectOne();
  const socket = await call();
  socket.write(Buffer.concat([hello, PARKED]));
  await until(() => seen.parked.length === 1, 'the worker is parked');
  expect(seen.parked[0]!.about).toEqual({ features: ['x'], python: '3.11', magic: 'm' });
});

test.each<[string, (order: ReturnType<typeof expectOne>) => Buffer]>([
  ['with a wrong token', ({ id }) => packFrame('hello', JSON.stringify({ id, token: 'guess' }))],
  ['without a token', ({ id }) => packFrame('hello', JSON.stringify({ id }))],
  ['with an unknown id', ({ token }) => packFrame('hello', JSON.stringify({ id: '0', token }))],
  ['that says hello in no JSON', () => packFrame('hello', '{')],
  ['that says null', () => packFrame('hello', 'null')],
  ['that does not say hello first', () => PARKED],
  ['that does not speak in frames', () => Buffer.from('GET / HTTP/1.1\r\n\r\n')],
])('a stranger %s is turned away', async (_, say) => {
  const order = expectOne();
  const socket = await call();
  socket.write(Buffer.concat([say(order), PARKED]));
  await until(() => socket.isOver(), 'the connection is over');
  expect(order.seen.parked).toEqual([]);
  // The order still stands, for the one who knows the token.
  const rightful = await call();
  rightful.write(Buffer.concat([order.hello, PARKED]));
  await until(() => order.seen.parked.length === 1, 'the worker is parked');
});

test('a token is good for one connection', async () => {
  const { seen, hello } = expectOne();
  (await call()).write(Buffer.concat([hello, PARKED]));
  await until(() => seen.parked.length === 1, 'the worker is parked');
  const second = await call();
  second.write(Buffer.concat([hello, PARKED]));
  await until(() => second.isOver(), 'the second one is turned away');
  expect(seen.parked).toHaveLength(1);
});

test('an order that was forgotten is not answered', async () => {
  const { seen, hello, forget } = expectOne();
  forget();
  const socket = await call();
  socket.write(Buffer.concat([hello, PARKED]));
  await until(() => socket.isOver(), 'the connection is over');
  expect(seen.parked).toEqual([]);
});

test('a supervisor that says why it failed, or just goes away, fails its order', async () => {
  const first = expectOne();
  (await call()).write(Buffer.concat([first.hello, packFrame('failed', 'no /proc')]));
  await until(() => first.seen.failed.length > 0, 'the failure is told');
  expect(first.seen.failed[0]).toBe('no /proc');
  const second = expectOne();
  const socket = await call();
  socket.end(second.hello);
  await until(() => second.seen.failed.length > 0, 'the failure is told');
  expect(second.seen.parked).toEqual([]);
});

test('its folder is private and goes with it', async () => {
  expect(statSync(listener.folder).mode & 0o066).toBe(0);
  expect(statSync(listener.workBase).mode & 0o066).toBe(0);
  await listener.close();
  expect(existsSync(listener.folder)).toBe(false);
});
