import { execFileSync } from 'node:child_process';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A network namespace with one link to this host. */
interface Namespace {
  name: string;
  /** The address of this host, as the namespace sees it. */
  address: string;
}

const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Numbers of namespaces that this process has used. */
let serial = 0;

/** Returns undefined where namespaces cannot be made: not as root, for example. */
function makeNamespace(): Namespace | undefined {
  serial += 1;
  const name = `pg${process.pid}-${serial}`;
  const net = `10.${200 + (process.pid % 50)}.${(process.pid >> 6) % 256}.${serial * 4}`;
  const address = net.replace(/\d+$/, (last) => `${Number(last) + 1}`);
  try {
    ip('netns', 'add', name);
    ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'up0', 'netns', name);
    ip('addr', 'add', `${address}/30`, 'dev', name);
    ip('link', 'set', name, 'up');
    ip(
      '-n',
      name,
      'addr',
      'add',
      `${address.replace(/\d+$/, (last) => `${Number(last) + 1}`)}/30`,
      'dev',
      'up0',
    );
    ip('-n', name, 'link', 'set', 'up0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    return { name, address };
  } catch {
    removeNamespace(name);
    return undefined;
  }
}

function removeNamespace(name: string): void {
  try {
    ip('netns', 'del', name);
  } catch {} // it was not made
}

/**
 * The link of a worker to the NATS server: a relay, which can hold everything back or delay it. Where namespaces can be made, the
 * worker is alone in one, and its link can be taken down.
 */
export class Link {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isHeld = false;
  #delayMs = 0;

  private constructor(
    private readonly target: () => number,
    private readonly namespace: Namespace | undefined,
  ) {
    this.#server = createServer((socket) => this.#relay(socket));
  }

  static async open(target: () => number): Promise<Link> {
    const link = new Link(target, makeNamespace());
    await new Promise<void>((open) => link.#server.listen(0, link.#address, open));
    return link;
  }

  get #address(): string {
    return this.namespace?.address ?? '127.0.0.1';
  }

  get url(): string {
    return `nats://${this.#address}:${(this.#server.address() as { port: number }).port}`;
  }

  /** The command that runs a program at the far end. */
  get through(): string[] {
    return this.namespace ? ['nsenter', `--net=/run/netns/${this.namespace.name}`] : [];
  }

  get isReal(): boolean {
    return this.namespace !== undefined;
  }

  /** Nothing arrives until it is healed; nobody is notified. */
  cut(): void {
    if (this.namespace) ip('link', 'set', this.namespace.name, 'down');
    else this.hold();
  }

  hold(): void {
    this.#isHeld = true;
    for (const socket of this.#sockets) socket.pause();
  }

  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /** Drops the connections. */
  reset(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  heal(): void {
    if (this.namespace) ip('link', 'set', this.namespace.name, 'up');
    this.#isHeld = false;
    this.#delayMs = 0;
    for (const socket of this.#sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.reset();
    await new Promise((closed) => this.#server.close(closed));
    if (this.namespace) removeNamespace(this.namespace.name);
  }

  #relay(near: Socket): void {
    const far = createConnection(this.target(), '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      if (this.#isHeld) from.pause();
      from.on('error', () => {});
      let pending = 0;
      let sent = Promise.resolve();
      from.on('data', (data) => {
        if (this.#delayMs === 0 && pending === 0) {
          to.write(data);
          return;
        }
        pending += 1;
        const due = pause(this.#delayMs);
        // In the order in which they came, whatever their delay.
        sent = sent
          .then(() => due)
          .then(() => {
            pending -= 1;
            to.write(data);
          });
      });
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
