import { fstatSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { type Ask, buildOf, identityOf, parseRun, surroundings } from './ask.js';
import { openPrivateFolder, socketsFolder } from './folder.js';
import { type FrameKind, frameReader, packFrame } from './frames.js';

const load = createRequire(import.meta.url);
const LONGEST_FRAME = 256 * 1024 * 1024;
/** A server that is stopped or busy for so long is not waited for. */
const PATIENCE_MS = 250;
const MOST_SERVERS = 4;
const INTERNAL = 70;
const CANCELLED = 130;

/**
 * Lets a running server of this user do a `pungi run`, if it would do the very same. Resolves to the exit status, or to
 * undefined if no server began with it. `folder`: that of the build.
 */
export async function runByServer(args: readonly string[], folder: string): Promise<number | undefined> {
  const { SHARE_SERVER } = process.env;
  if (process.platform !== 'linux' || SHARE_SERVER === 'false' || SHARE_SERVER === '0') return undefined;
  // Whatever is wrong until a server has accepted: the command runs by itself, and reports it.
  const server = await findServer(args, folder).catch(() => undefined);
  return server?.run();
}

async function findServer(args: readonly string[], folder: string): Promise<Accepting | undefined> {
  const sockets = openPrivateFolder(socketsFolder());
  try {
    const names = sockets.names();
    const ask = names.length === 0 ? undefined : askFor(args, folder);
    if (ask === undefined) return undefined;
    for (const name of names.slice(0, MOST_SERVERS)) {
      const server = await acceptedBy(sockets.at(name), ask);
      if (server !== undefined) return server;
    }
    return undefined;
  } finally {
    sockets.close();
  }
}

function askFor(args: readonly string[], folder: string): string | undefined {
  const command = parseRun(args);
  if (command === undefined) return undefined;
  const [file = ''] = command.operands;
  const ask: Ask = {
    command,
    build: buildOf(folder),
    surroundings: surroundings(),
    env: process.env,
    cwd: process.cwd(),
    script: command.options.code === undefined ? identityOf(file) : null,
    isPiped: isPiped(),
    isTerminal: { stdout: isTerminal(1), stderr: isTerminal(2) },
  };
  return JSON.stringify(ask);
}

function isPiped(): boolean {
  const stdin = fstatSync(0);
  return stdin.isFIFO() || stdin.isFile() || stdin.isSocket();
}

/** Most are none, and then this module is not loaded. */
const isTerminal = (fd: number) =>
  fstatSync(fd).isCharacterDevice() && (load('node:tty') as typeof import('node:tty')).isatty(fd);

interface Accepting {
  /** Begins, and resolves to the exit status. */
  run(): Promise<number>;
}

/** Resolves once a server has answered; undefined if it declines, or nobody answers. */
function acceptedBy(path: string, ask: string): Promise<Accepting | undefined> {
  const { connect } = load('node:net') as typeof import('node:net');
  return new Promise((resolve) => {
    const socket = connect(path, () => socket.write(packFrame('ask', ask)));
    const giveUp = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(undefined);
    };
    const timer = setTimeout(giveUp, PATIENCE_MS);
    socket.on('error', giveUp).once('close', giveUp);
    let onFrame: OnFrame = (kind) => {
      if (kind !== 'yes') return giveUp();
      clearTimeout(timer);
      socket.off('close', giveUp);
      resolve({ run: () => running(socket, (listener) => (onFrame = listener)) });
    };
    const read = frameReader(LONGEST_FRAME, (kind, payload) => onFrame(kind, payload));
    socket.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch {
        socket.destroy();
      }
    });
  });
}

type OnFrame = (kind: FrameKind, payload: Buffer) => void;

/** From here on nobody else may run it: a server that goes away has failed. */
function running(socket: Socket, listen: (listener: OnFrame) => void): Promise<number> {
  const send = (kind: FrameKind, payload?: Uint8Array) => socket.write(packFrame(kind, payload));
  let isRead = true;
  const print = (fd: 1 | 2, data: Buffer) => {
    if (write(fd, data) || fd === 2 || !isRead) return;
    isRead = false;
    send('unread');
  };
  return new Promise((resolve) => {
    const lost = () => {
      write(2, Buffer.from('pungi: the server that did this run has ended, and the run with it\n'));
      resolve(INTERNAL);
    };
    socket.once('close', lost);
    const actions: Partial<Record<FrameKind, (payload: Buffer) => void>> = {
      stdout: (data) => print(1, data),
      stderr: (data) => print(2, data),
      want: () => sendInput(send),
      status: (payload) => {
        socket.off('close', lost).destroy();
        resolve(Number(payload.toString()));
      },
    };
    listen((kind, payload) => actions[kind]?.(payload));
    onInterrupt(() => send('cancel'));
    send('go');
  });
}

/** A second signal ends the process at once; the server cancels a run that nobody waits for. */
function onInterrupt(cancel: () => void): void {
  let asked = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (asked) process.exit(CANCELLED);
      asked = true;
      cancel();
    });
}

/** Sends the next piece of standard input, once there is one. */
function sendInput(send: (kind: FrameKind, payload?: Uint8Array) => void): void {
  const { stdin } = process;
  const settle = (kind: 'input' | 'inputEnd', piece?: Buffer) => {
    stdin.pause().off('data', onData).off('end', onEnd).off('error', onEnd);
    send(kind, piece);
  };
  const onData = (piece: Buffer) => settle('input', piece);
  const onEnd = () => settle('inputEnd');
  if (stdin.readableEnded || stdin.destroyed) send('inputEnd');
  else stdin.on('data', onData).on('end', onEnd).on('error', onEnd).resume();
}

/** Writes all of it before it returns, as Node does to files and pipes; false if nobody reads it any more. */
function write(fd: 1 | 2, data: Buffer): boolean {
  for (let rest = data; rest.length > 0; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
  return true;
}
