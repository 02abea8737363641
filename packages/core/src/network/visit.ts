import type { Socket } from 'node:net';
import type { Target } from './host-name.js';

export interface NetworkDecision {
  run: string | null;
  host: string;
  port: number;
  allowed: boolean;
  /** null where it was allowed. */
  reason: string | null;
  /** The run lost its network with it: it is the last one, and the one that tells most. */
  isLast: boolean;
}

/** HTTP clients keep a hundred at most. */
const MOST_CONNECTIONS = 128;
/** What a run has in any case, also where others have taken all that the server gives. */
const ASSURED_CONNECTIONS = 8;
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
  welcome(socket: Socket, isServerFull: boolean): boolean {
    const most = isServerFull ? ASSURED_CONNECTIONS : MOST_CONNECTIONS;
    if (this.#isOver || this.#connections >= most) return false;
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

  record(target: Target, reason: string | null): void {
    const key = JSON.stringify([target.host.text, target.port, reason]);
    if (this.#isOver || this.#told.has(key)) return;
    this.#told.add(key);
    if (this.#told.size > MOST_DECISIONS)
      this.#cutOff(target, 'The run asked for too many different hosts and lost its network.');
    else this.#tell(target, reason, false);
  }

  /** Bytes to or from a host. */
  count(target: Target, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MOST_BYTES)
      this.#cutOff(target, `The run moved more than ${MOST_BYTES / 1024 ** 2} MB and lost its network.`);
  }

  #cutOff(target: Target, reason: string): void {
    if (this.#isOver) return;
    this.#tell(target, reason, true);
    this.end();
  }

  #tell({ host, port }: Target, reason: string | null, isLast: boolean): void {
    this.tell({ run: this.run, host: host.text, port, allowed: reason === null, reason, isLast });
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}
