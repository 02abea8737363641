import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Hardly a client sends a request before it has the answer to the last one. */
const MOST_WAITING = 16;

interface Waiting {
  response: ServerResponse;
  begin: () => void;
}

/** The requests of one connection, one at a time: node hands over as many as were sent in one go. */
export class RequestLine {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(private readonly socket: Socket) {}

  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Begins when those before it are answered; a connection that sends far too many is cut. */
  enter(response: ServerResponse, begin: () => void): void {
    if (this.#waiting.length >= MOST_WAITING) return void this.socket.destroy();
    this.#waiting.push({ response, begin });
    if (!this.#isBusy) this.#next();
  }

  #next(): void {
    // After an answer that closes the connection nobody would hear the next one.
    const next = this.socket.writableEnded || this.socket.destroyed ? undefined : this.#waiting.shift();
    this.#isBusy = next !== undefined;
    next?.response.once('close', () => this.#next());
    next?.begin();
  }
}
