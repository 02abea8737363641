import {
  type JSONRPCMessage,
  type JSONRPCResponse,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/client';
import { bounded, cut } from '../judge/shown.js';
import { ServerFault } from './server-fault.js';

/** After a line that was probably meant as the answer, the real one gets this much time. */
const GRACE_MS = 2000;
const MOST_KEPT = 20;
/** More than this between two answers counts as a flood. */
const MOST_MESSAGES = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_ANSWERED = 10_000;

const SHOWN = 200;
const SHOWN_REASON = 500;

interface TrafficActions {
  /** Ends a call that can no longer be answered. */
  fail: (id: RequestId, fault: ServerFault) => void;
  /** Gives up the connection. */
  abandon: (fault: ServerFault) => void;
}

/**
 * Watches a connection for what the client does not report: lines that are not messages, unrequested answers, duplicate
 * answers, floods.
 */
export class Traffic {
  readonly #actions: TrafficActions;
  readonly #open = new Map<RequestId, string>();
  readonly #cancelled = new Set<RequestId>();
  readonly #answered = new Set<RequestId>();
  readonly #oddities: string[] = [];
  #odd = 0;
  #suspects: string[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #progress = new Map<string, () => void>();
  /** Pending requests of the server. */
  readonly #asked = new Map<RequestId, string>();
  #logs = 0;
  #messages = 0;
  #bytes = 0;

  constructor(actions: TrafficActions) {
    this.#actions = actions;
  }

  /** The number of log messages so far. */
  get logs(): number {
    return this.#logs;
  }

  /**
   * Listens for progress of a token. The client reports it later, and not at all if the answer arrived together with it.
   */
  onProgress(token: string, listener: () => void): () => void {
    this.#progress.set(token, listener);
    return () => this.#progress.delete(token);
  }

  /** The number of protocol violations so far; a mark for `oddities`. */
  get odd(): number {
    return this.#odd;
  }

  /** One sentence per violation since the mark, up to a limit. */
  oddities(mark = 0): string[] {
    const first = this.#oddities.slice(mark);
    const left = this.#odd - Math.max(mark, this.#oddities.length);
    return left > 0 ? [...first, `There were ${left} more.`] : first;
  }

  /** Called when a request of the server is refused: the client refuses some by itself. */
  onRefused: (sentence: string) => void = () => {};

  sent(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      this.#replied(message);
      return;
    }
    if ('id' in message) this.#open.set(message.id, message.method);
    else if (message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId === undefined) return;
      this.#open.delete(requestId);
      this.#cancelled.add(requestId);
    }
  }

  /** Returns false if the client must not see the message. */
  received(message: JSONRPCMessage, bytes = 0): boolean {
    if ('method' in message) {
      this.#count(bytes);
      if ('id' in message) this.#asked.set(message.id, message.method);
      return !this.#receive(message);
    }
    const { id } = message;
    if (id !== undefined && this.#open.delete(id)) {
      this.#remember(id);
      this.#messages = 0;
      this.#bytes = 0;
      if (this.#open.size === 0) this.#trust();
      return true;
    }
    this.#count(bytes);
    // A cancelled call may still be answered: the answer was already on its way.
    if (id !== undefined && this.#cancelled.delete(id)) return false;
    if (id !== undefined && this.#answered.has(id)) {
      this.#note(`The server answered the request with id ${JSON.stringify(id)} twice.`);
      return false;
    }
    this.#suspect(
      id === undefined
        ? `The server answered with an error without an id: ${shownMessage(message)}`
        : `The server answered with the unknown id ${cut(JSON.stringify(id), 60)}.`,
    );
    return false;
  }

  /** Handles a line on stdout that is not a message. */
  notAMessage(line: string, problem: 'json' | 'message'): void {
    this.#count(line.length);
    const text = cut(line, SHOWN);
    if (problem === 'message')
      this.#suspect(`The server wrote JSON to stdout that is not a JSON-RPC message: ${text}`);
    else if (/^\s*[[{]/.test(line))
      this.#suspect(`The server wrote a line to stdout that is not valid JSON: ${text}`);
    else
      this.#note(
        `The server wrote a line to stdout that is not a message; stdout is only for the protocol, write logs to stderr: ${text}`,
      );
  }

  tooLong(most: number, beginning: string): void {
    const what = `The server wrote more than ${most / 1024 ** 2} MB to stdout without a line end`;
    this.#abandon(
      new ServerFault('protocol', `${what}, which exceeds the size of a message: ${cut(beginning, 80)}`),
    );
  }

  halfLine(text: string): void {
    this.#note(`The server ended in the middle of a message: ${cut(text, SHOWN)}`);
  }

  /** Handles an HTTP response that ended without the answer. */
  responseEnded(id: RequestId): void {
    if (!this.#open.delete(id)) return;
    const why = this.#suspects.length > 0 ? ` ${this.#suspects.join(' ')}` : '';
    this.#suspects = [];
    const what = 'The response to the request ended without an answer.';
    this.#actions.fail(id, new ServerFault('protocol', `${what}${why}`));
  }

  /** Forgets a request that was never sent. */
  forget(id: RequestId): void {
    this.#open.delete(id);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#open.clear();
  }

  #replied(message: JSONRPCResponse): void {
    const { id } = message;
    const method = id === undefined ? undefined : this.#asked.get(id);
    if (id === undefined || method === undefined) return;
    this.#asked.delete(id);
    if (!('error' in message)) return;
    const { code, message: why } = message.error;
    const asked = `The server requested ${cut(JSON.stringify(method), SHOWN)}`;
    if (code === ProtocolErrorCode.MethodNotFound) {
      const sentence = `${asked}, which the client does not support.`;
      this.#note(sentence);
      this.onRefused(sentence);
    } else this.onRefused(`${asked}, which was refused: ${cut(why.replace(/\s+/g, ' '), SHOWN_REASON)}`);
  }

  /** Returns true if the notification was for us. */
  #receive({ method, params }: { method: string; params?: unknown }): boolean {
    if (method === 'notifications/message') this.#logs += 1;
    if (method !== 'notifications/progress') return false;
    const listener = this.#progress.get(String((params as { progressToken?: unknown })?.progressToken));
    listener?.();
    return listener !== undefined;
  }

  #remember(id: RequestId): void {
    this.#answered.add(id);
    if (this.#answered.size > MOST_ANSWERED)
      this.#answered.delete(this.#answered.values().next().value as RequestId);
  }

  #note(sentence: string): void {
    this.#odd += 1;
    if (this.#oddities.length < MOST_KEPT) this.#oddities.push(sentence);
  }

  /** Counts lines that were probably meant as answers, up to the number of open requests. */
  #suspect(sentence: string): void {
    this.#note(sentence);
    if (this.#open.size === 0) return;
    this.#suspects.push(sentence);
    if (this.#suspects.length < this.#open.size || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.#giveUp(), GRACE_MS);
  }

  #giveUp(): void {
    const fault = new ServerFault(
      'protocol',
      `The call was not answered. ${[...new Set(this.#suspects)].slice(0, 3).join(' ')}`,
    );
    const left = [...this.#open.keys()];
    this.#open.clear();
    this.#trust();
    for (const id of left) this.#actions.fail(id, fault);
  }

  #trust(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#suspects = [];
  }

  #count(bytes: number): void {
    this.#messages += 1;
    this.#bytes += bytes;
    if (this.#messages <= MOST_MESSAGES && this.#bytes <= MOST_BYTES) return;
    const amount = this.#messages > MOST_MESSAGES ? `${MOST_MESSAGES} lines` : `${MOST_BYTES / 1024 ** 2} MB`;
    const first = this.#oddities[0] === undefined ? '' : ` ${this.#oddities[0]}`;
    this.#abandon(
      new ServerFault(
        'protocol',
        `The server flooded its output: more than ${amount} arrived without an answer.${first}`,
      ),
    );
  }

  #abandon(fault: ServerFault): void {
    this.#messages = 0;
    this.#bytes = 0;
    this.#actions.abandon(fault);
  }
}

/** Shortens a message of any depth and size. */
const shownMessage = (message: JSONRPCMessage) => cut(JSON.stringify(bounded(message)), SHOWN);
