import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { packFrame } from '../src/shared-server/frames.js';
import type { Running } from './pungi.js';
import { SharedPlace } from './shared-server.js';

const onLinux = process.platform === 'linux';
const RESULT = { status: 0, stdout: '2\n', stderr: '', byServer: false };
const isRoot = process.getuid?.() === 0;

describe.runIf(onLinux)('a command', () => {
  let place: SharedPlace;
  /** What somebody who is not a server of the user was sent. */
  let stolen: Buffer[];
  let planted: Server;
  const open: Socket[] = [];

  /** A socket that accepts whatever it is asked for, in the folder of the servers. */
  beforeEach(async () => {
    place = new SharedPlace();
    stolen = [];
    mkdirSync(place.sockets, { recursive: true, mode: 0o700 });
    planted = createServer((socket) => {
      open.push(socket);
      socket.on('data', (data) => {
        stolen.push(data);
        socket.write(stolen.length === 1 ? packFrame('yes') : packFrame('status', '7'));
      });
    });
    await new Promise<void>((listening) => planted.listen(join(place.sockets, 'planted'), listening));
  });
  afterEach(() => {
    for (const socket of open.splice(0)) socket.destroy();
    planted.close();
  });
  const run = () => place.run(['-c', 'print(1 + 1)']);

  test('trusts who listens in the private folder of its user', async () => {
    expect(await run()).toMatchObject({ status: 7, byServer: true });
  });

  test.each<[string, () => void]>([
    ['that others can enter', () => chmodSync(place.sockets, 0o711)],
    ['that others can write to', () => chmodSync(place.sockets, 0o777)],
    ['behind a link', () => linkFolder(place.sockets)],
  ])('sends nothing to a folder %s', async (_, plant) => {
    plant();
    expect(await run()).toEqual(RESULT);
    expect(stolen).toEqual([]);
  });

  test.runIf(isRoot)('sends nothing to a folder of another user', async () => {
    chownSync(place.sockets, 12345, 12345);
    expect(await run()).toEqual(RESULT);
    expect(stolen).toEqual([]);
  });

  test('runs by itself beside a socket of a killed server', async () => {
    const killed = new SharedPlace();
    const server = await killed.serve();
    server.child.kill('SIGKILL');
    await server.ended;
    expect(killed.names()).toHaveLength(1);
    expect(await killed.run(['-c', 'print(1 + 1)'])).toEqual(RESULT);
  });

  test.each<[string, (socket: Socket) => void]>([
    ['talks garbage', (socket) => socket.write('garbage, and nothing else')],
    ['hangs up', (socket) => socket.destroy()],
    ['announces more than anybody sends', (socket) => socket.write(Buffer.from('ffffffff59', 'hex'))],
    ['says nothing', () => {}],
  ])('runs by itself if a server %s', async (_, behave) => {
    planted.removeAllListeners('connection');
    planted.on('connection', (socket) => {
      open.push(socket);
      behave(socket);
    });
    expect(await run()).toEqual(RESULT);
  });

  test('runs by itself beside a file and a folder in place of sockets', async () => {
    planted.close();
    writeFileSync(join(place.sockets, 'file'), '');
    mkdirSync(join(place.sockets, 'folder'));
    expect(await run()).toEqual(RESULT);
  });
});

describe.runIf(onLinux)('a server', () => {
  const place = new SharedPlace();
  let server: Running;
  beforeAll(async () => {
    server = await place.serve();
  });
  afterAll(() => void server.child.kill());

  const dial = () =>
    new Promise<Socket>((resolve) => {
      const socket = connect(join(place.sockets, place.names()[0]!), () => resolve(socket));
    });
  const isServing = async () => (await place.run(['-c', 'print(1 + 1)'])).byServer;

  test('keeps its socket where only its user can enter', () => {
    expect(statSync(place.sockets)).toMatchObject({ uid: process.getuid?.() });
    expect(statSync(place.sockets).mode & 0o777).toBe(0o700);
  });

  test.each<[string, Buffer]>([
    ['garbage', Buffer.from('garbage, and nothing else')],
    ['a frame that never ends', Buffer.from('ffffffff41', 'hex')],
    ['a question that is no JSON', packFrame('ask', '{')],
    ['a question without what it needs', packFrame('ask', '{"command": {"options": {}}}')],
    ['an order without a question', packFrame('go')],
    ['a frame of a server', packFrame('status', '0')],
  ])('hangs up on %s, and serves others', async (_, bytes) => {
    const socket = await dial();
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('error', () => {}).resume();
    socket.write(bytes);
    await closed;
    expect(await isServing()).toBe(true);
  });

  test('serves others while commands do not read what they are sent', async () => {
    const { child, shows } = place.command(['--stdin', '', '-c', 'while True: print("y" * 1000)']);
    await shows('stdout', 'yyy');
    child.kill('SIGSTOP');
    expect(await isServing()).toBe(true);
    child.kill('SIGKILL');
  });

  test('is not used while it stands still, and does nothing of it later', async () => {
    const own = new SharedPlace();
    const stopped = await own.serve();
    stopped.child.kill('SIGSTOP');
    expect(await own.run(['-c', 'print(1 + 1)'])).toEqual(RESULT);
    stopped.child.kill('SIGCONT');
    expect(await own.run(['-c', 'print(1 + 1)'])).toEqual({ ...RESULT, byServer: true });
    stopped.child.kill('SIGTERM');
    const { stderr } = await stopped.ended;
    expect(stderr.split('Executing Python script')).toHaveLength(2);
  });

  test.each<[string, (sockets: string) => void]>([
    ['others can enter', (sockets) => mkdirSync(sockets, { recursive: true, mode: 0o755 })],
    ['is a link', (sockets) => linkTo(sockets)],
    ...(isRoot ? [['is of another user', ofAnotherUser] as [string, (sockets: string) => void]] : []),
  ])('does not listen in a folder that %s', async (_, plant) => {
    const own = new SharedPlace();
    plant(own.sockets);
    const serving = await own.serve({ LOG_LEVEL: 'debug' }, 'Commands run by themselves');
    expect(own.names()).toEqual([]);
    serving.child.kill();
  });

  test('removes the sockets of killed servers', async () => {
    const own = new SharedPlace();
    const killed = await own.serve();
    killed.child.kill('SIGKILL');
    await killed.ended;
    const [old] = own.names();
    const next = await own.serve();
    await until(() => !existsSync(join(own.sockets, old!)), 'the old socket is gone');
    next.child.kill();
  });

  test('takes no commands with SHARE_SERVER=false', async () => {
    const own = new SharedPlace();
    const closed = await own.serve({ SHARE_SERVER: 'false' }, 'Ctrl-C stops the server');
    expect(await own.run(['-c', 'print(1 + 1)'])).toEqual(RESULT);
    expect(own.names()).toEqual([]);
    closed.child.kill();
  });
});

function linkFolder(path: string): void {
  renameSync(path, `${path}-elsewhere`);
  symlinkSync(`${path}-elsewhere`, path);
}

function linkTo(sockets: string): void {
  mkdirSync(`${sockets}-elsewhere`, { recursive: true, mode: 0o700 });
  rmSync(sockets, { force: true, recursive: true });
  symlinkSync(`${sockets}-elsewhere`, sockets);
}

function ofAnotherUser(sockets: string): void {
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  chownSync(sockets, 12345, 12345);
}
