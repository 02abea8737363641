import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Waiting {
  res: ServerResponse;
  begin: () => void;
}

/**
 * Handles the requests of a connection one by one, and stops reading from it while one waits for another. Node emits every
 * request as soon as it has its headers, so a client that does not wait for replies would fill the memory and the event loop. Node
 * also never closes a response that is still in line when its connection ends: what waits for that would wait forever.
 */
export class RequestQueue {
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node resumes a connection at the end of each request.
    socket.on('resume', () => this.#stopReading());
  }

  /** Whether requests wait for the one before. The server then does not see whether the client is still there. */
  get isStopped(): boolean {
    return this.#waiting.length > 0;
  }

  /** Begins when the responses before are closed. */
  add(res: ServerResponse, begin: () => void): void {
    if (this.#isBusy) {
      this.#waiting.push({ res, begin });
      this.#stopReading();
    } else this.#begin({ res, begin });
  }

  #begin({ res, begin }: Waiting): void {
    this.#isBusy = true;
    res.once('close', () => this.#next());
    begin();
  }

  #next(): void {
    const following = this.#waiting.shift();
    this.#isBusy = following !== undefined;
    if (following === undefined) return;
    if (!this.isStopped) this.#socket.resume();
    // A response has no socket if the connection has ended, or ends with the response before.
    if (following.res.socket !== null) this.#begin(following);
  }

  /** Node stops at the event, which `pause` does not emit if an unread body has paused the connection before Node resumed it. */
  #stopReading(): void {
    if (this.isStopped) this.#socket.pause().emit('pause');
  }
}
