import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Target } from './hosts.js';

export interface NetworkDecision {
  run: string | null;
  host: string;
  port: number;
  allowed: boolean;
  /** null if it was allowed. */
  reason: string | null;
  /** The run lost its network, so this is its last decision. */
  isLast: boolean;
}

/** HTTP clients use at most a hundred. */
const MOST_CONNECTIONS = 128;
/** The connections that a run always gets, even if others use all of the server's. */
const ASSURED_CONNECTIONS = 8;
const MOST_BYTES = 1024 ** 3;
/** Each host is recorded once per run. A run that requests more hosts than this is scanning. */
const MOST_DECISIONS = 1000;

/** The network use of one run, from its start to its end. */
export class RunConnections {
  readonly #sockets = new Set<Socket>();
  readonly #recorded = new Set<string>();
  #connections = 0;
  #bytes = 0;
  #isOver = false;

  constructor(
    private readonly run: string,
    private readonly onDecision: (decision: NetworkDecision) => void,
  ) {}

  /** Accepts a connection of the run, unless it has too many. */
  welcome(socket: Socket, isServerFull: boolean): boolean {
    const most = isServerFull ? ASSURED_CONNECTIONS : MOST_CONNECTIONS;
    if (this.#isOver || this.#connections >= most) return false;
    this.#connections += 1;
    socket.once('close', () => (this.#connections -= 1));
    this.hold(socket);
    return true;
  }

  /** Registers a socket that is cut when the run has ended. */
  hold(socket: Socket): void {
    if (this.#isOver) return void socket.destroy();
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  record(target: Target, reason: string | null): void {
    const key = JSON.stringify([target.host.text, target.port, reason]);
    if (this.#isOver || this.#recorded.has(key)) return;
    this.#recorded.add(key);
    if (this.#recorded.size > MOST_DECISIONS)
      this.#cutOff(target, 'The run asked for too many different hosts and lost its network.');
    else this.#report(target, reason, false);
  }

  /** Counts bytes to or from a host. */
  count(target: Target, bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MOST_BYTES)
      this.#cutOff(target, `The run moved more than ${MOST_BYTES / 1024 ** 2} MB and lost its network.`);
  }

  #cutOff(target: Target, reason: string): void {
    if (this.#isOver) return;
    this.#report(target, reason, true);
    this.end();
  }

  #report({ host, port }: Target, reason: string | null, isLast: boolean): void {
    this.onDecision({ run: this.run, host: host.text, port, allowed: reason === null, reason, isLast });
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets) socket.destroy();
  }
}

const MOST_OF_ALL_RUNS = 1024;
/** Each connection takes two descriptors, and runs, environments and the audit trail need others. */
const SHARE = 8;

/** The connections of all runs together. */
export class Capacity {
  readonly #most = Math.min(MOST_OF_ALL_RUNS, Math.floor(mostDescriptors() / SHARE));
  #open = 0;

  get isReached(): boolean {
    return this.#open >= this.#most;
  }

  count(socket: Socket): void {
    this.#open += 1;
    socket.once('close', () => (this.#open -= 1));
  }
}

/** Returns the descriptor limit of this process, which node raises at its start. */
function mostDescriptors(): number {
  try {
    const [, most] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return most === undefined ? Number.POSITIVE_INFINITY : Number(most);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
