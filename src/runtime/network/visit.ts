import type { Socket } from 'node:net';
import type { Target } from './host-name.js';

export interface NetworkDecision {
  run: string | null;
  host: string;
  port: number;
  allowed: boolean;
  /** null where it was allowed. */
  reason: string | null;
}

/** HTTP clients keep a hundred at most. */
const MOST_CONNECTIONS = 128;
const MOST_BYTES = 1024 ** 3;
/** What a run asked for is recorded once. One that asks for more different hosts than this is looking for something. */
const MOST_DECISIONS = 1000;

/** One run's use of the network, from its start to its end. */
export class Visit {
  readonly #sockets = new Set<Socket>();
  readonly #told = new Set<string>();
  #connections = 0;
  #bytes = 0;
  #isOver = false;

  constructor(
    private readonly run: string,
    private readonly tell: (decision: NetworkDecision) => void,
  ) {}

  /** Takes a connection of the run, unless it has too many. */
  welcome(socket: Socket): boolean {
    if (this.#isOver || this.#connections >= MOST_CONNECTIONS) return false;
    this.#connections += 1;
    socket.once('close', () => (this.#connections -= 1));
    this.hold(socket);
    return true;
  }

  /** A socket that is cut when the run has ended. */
  hold(socket: Socket): void {
    if (this.#isOver) return void socket.destroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  record({ host, port }: Target, reason: string | null): void {
    const key = JSON.stringify([host.text, port, reason]);
    if (this.#isOver || this.#told.has(key)) return;
    const isTooMany = this.#told.size >= MOST_DECISIONS;
    this.#told.add(key);
    const said = isTooMany ? 'The run asked for too many different hosts and lost its network.' : reason;
    this.tell({ run: this.run, host: host.text, port, allowed: said === null, reason: said });
    if (isTooMany) this.end();
  }

  /** Bytes to or from a host. */
  count(target: Target, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= MOST_BYTES) return;
    this.record(target, `The run moved more than ${MOST_BYTES / 1024 ** 2} MB and lost its network.`);
    this.end();
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
