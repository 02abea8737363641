import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { PungiError } from '../base/errors.js';
import { SANDBOX_UID } from '../sandbox/sandbox-uid.js';
import { FrameParser } from './frames.js';
import { PrivateFolder } from './private-folder.js';
import { Supervisor } from './supervisor.js';

const HELLO_TIMEOUT_MS = 5000;
/** Node reads up to 32 chunks of one connection before it turns to another. */
const LONG_CHUNK_MS = 2;

/** A requested supervisor that has not parked its first worker yet. */
interface Expected {
  id: string;
  token: string;
  onParked: (supervisor: Supervisor) => void;
  onFailed: (reason: string) => void;
}

/** The private folder and socket that supervisors connect to. One for the whole engine. */
export class Listener {
  readonly folder: string;
  readonly socket: string;
  readonly workBase: string;
  #place = new PrivateFolder();
  #expected = new Map<string, Expected>();
  #server: Server;
  #sockets = new Set<Socket>();
  #serial = 0;
  readonly listening: Promise<void>;

  constructor() {
    this.folder = this.#place.path;
    this.socket = this.#place.socket;
    this.workBase = join(this.folder, 'work');
    mkdirSync(this.workBase, { mode: 0o700 });
    this.#server = createServer((socket) => this.#welcome(socket)).unref();
    this.listening = new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.socket, () => {
        try {
          this.#letSandboxUserPass();
          resolve();
        } catch (error) {
          reject(identityUnavailable(error));
        }
      });
    });
    this.listening.catch(() => {}); // reported when a fork server starts
  }

  /**
   * As root, fork servers have another user id, which must be able to reach its own work folder, but list no other.
   */
  #letSandboxUserPass(): void {
    if (process.getuid?.() !== 0) return;
    for (const path of [this.folder, this.workBase]) chmodSync(path, 0o711);
  }

  expect(
    onParked: Expected['onParked'],
    onFailed: Expected['onFailed'],
  ): { id: string; token: string; forget(): void } {
    this.#serial += 1;
    const id = `${this.#serial}-${randomBytes(4).toString('hex')}`;
    const token = randomBytes(16).toString('hex');
    this.#expected.set(id, { id, token, onParked, onFailed });
    return { id, token, forget: () => this.#expected.delete(id) };
  }

  /** A connection is untrusted until it presents a one-time token. */
  #welcome(socket: Socket): void {
    this.#sockets.add(socket.unref());
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    const timer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
    let order: Expected | undefined;
    let supervisor: Supervisor | undefined;
    const parser = new FrameParser((kind, payload) => {
      if (supervisor) supervisor.receive(kind, payload);
      else if (kind === 'hello' && !order) {
        clearTimeout(timer);
        order = this.#take(payload);
        if (!order) socket.destroy();
      } else if (kind === 'parked' && order) {
        supervisor = new Supervisor(socket, order.id);
        supervisor.receive(kind, payload);
        order.onParked(supervisor);
      } else if (kind === 'failed' && order) order.onFailed(payload.toString());
      else socket.destroy();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      if (order && !supervisor) order.onFailed('a supervisor ended before its first worker was parked');
    });
    socket.on('data', (chunk) => {
      const began = performance.now();
      try {
        parser.feed(chunk);
      } catch {
        socket.destroy();
      }
      if (performance.now() - began > LONG_CHUNK_MS) pauseBriefly(socket, () => supervisor?.isHeld !== true);
    });
  }

  #take(hello: Buffer): Expected | undefined {
    const { id, token } = JSON.parse(hello.toString()) as { id: string; token: string };
    const order = this.#expected.get(id);
    if (order?.token !== token) return undefined;
    this.#expected.delete(id);
    return order;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#place.remove();
  }
}

/** `mayResume`: nobody else has paused it meanwhile. */
function pauseBriefly(socket: Socket, mayResume: () => boolean): void {
  socket.pause();
  setImmediate(() => {
    if (mayResume()) socket.resume();
  });
}

/** A container may have a root user and no other. */
function identityUnavailable(cause: unknown): PungiError {
  return new PungiError(
    'SANDBOX_UNAVAILABLE',
    `Pungi runs as root here and cannot give runs another identity (uid ${SANDBOX_UID}): ${(cause as Error).message}. Start it as an ordinary user.`,
    {},
    cause,
  );
}
