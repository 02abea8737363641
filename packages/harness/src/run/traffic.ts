import {
  type JSONRPCMessage,
  type JSONRPCResponse,
  ProtocolErrorCode,
  type RequestId,
} from '@modelcontextprotocol/client';
import { bounded, cut } from '../judge/shown.js';
import { ServerFault } from './server-fault.js';

/** After something that was probably meant as the answer, the real one is waited for only so long. */
const GRACE_MS = 2000;
const MOST_KEPT = 20;
/** More than this between two answers, and the server says it to nobody. */
const MOST_MESSAGES = 100_000;
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_ANSWERED = 10_000;

const SHOWN = 200;
const SHOWN_REASON = 500;

interface TrafficActions {
  /** Ends a call that can get no answer any more. */
  fail: (id: RequestId, fault: ServerFault) => void;
  /** The connection is of no use any more. */
  abandon: (fault: ServerFault) => void;
}

/**
 * What goes over a connection, as far as the client does not tell: lines that are no messages, answers to nobody, answers
 * given twice, floods.
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
  /** What the server asked, until it is answered. */
  readonly #asked = new Map<RequestId, string>();
  #logs = 0;
  #messages = 0;
  #bytes = 0;

  constructor(actions: TrafficActions) {
    this.#actions = actions;
  }

  /** Log messages so far. */
  get logs(): number {
    return this.#logs;
  }

  /**
   * Hears of progress under a token. The client itself tells of it only later, and not at all where the answer came
   * together with it.
   */
  onProgress(token: string, hear: () => void): () => void {
    this.#progress.set(token, hear);
    return () => this.#progress.delete(token);
  }

  /** How many things were not as the protocol says; a mark for `oddities`. */
  get odd(): number {
    return this.#odd;
  }

  /** Sentences, one for each; bounded, and those since the mark. */
  oddities(mark = 0): string[] {
    const first = this.#oddities.slice(mark);
    const left = this.#odd - Math.max(mark, this.#oddities.length);
    return left > 0 ? [...first, `There were ${left} more of the kind.`] : first;
  }

  /** Hears of what the server asked in vain: the client refuses some of it by itself. */
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

  /** False where the client must not see it. */
  received(message: JSONRPCMessage, bytes = 0): boolean {
    if ('method' in message) {
      this.#count(bytes);
      if ('id' in message) this.#asked.set(message.id, message.method);
      return !this.#hear(message);
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
    // A cancelled call may still be answered: the answer was on its way.
    if (id !== undefined && this.#cancelled.delete(id)) return false;
    if (id !== undefined && this.#answered.has(id)) {
      this.#note(`The server answered the request with id ${JSON.stringify(id)} twice.`);
      return false;
    }
    this.#suspect(
      id === undefined
        ? `The server answered with an error without an id: ${shownMessage(message)}`
        : `The server answered with the id ${cut(JSON.stringify(id), 60)}, which no request has.`,
    );
    return false;
  }

  /** A line on stdout that is no message. */
  notAMessage(line: string, problem: 'json' | 'message'): void {
    this.#count(line.length);
    const words = cut(line, SHOWN);
    if (problem === 'message')
      this.#suspect(`The server wrote JSON to stdout that is no JSON-RPC message: ${words}`);
    else if (/^\s*[[{]/.test(line))
      this.#suspect(`The server wrote a line to stdout that is not valid JSON: ${words}`);
    else
      this.#note(
        `The server wrote a line to stdout that is no message; logs belong on stderr, stdout is for the protocol alone: ${words}`,
      );
  }

  tooLong(most: number, beginning: string): void {
    const what = `The server wrote more than ${most / 1024 ** 2} MB to stdout without an end of line`;
    this.#abandon(
      new ServerFault(
        'protocol',
        `${what}, which is more than clients read as one message: ${cut(beginning, 80)}`,
      ),
    );
  }

  halfLine(text: string): void {
    this.#note(`The server ended in the middle of a message: ${cut(text, SHOWN)}`);
  }

  /** Of a request over HTTP: the response ended, and the answer was not in it. */
  responseEnded(id: RequestId): void {
    if (!this.#open.delete(id)) return;
    const why = this.#suspects.length > 0 ? ` ${this.#suspects.join(' ')}` : '';
    this.#suspects = [];
    const what = 'The response to the request ended without an answer.';
    this.#actions.fail(id, new ServerFault('protocol', `${what}${why}`));
  }

  /** It was never sent. */
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
    const asked = `The server asked for ${cut(JSON.stringify(method), SHOWN)}`;
    if (code === ProtocolErrorCode.MethodNotFound) {
      const sentence = `${asked}, which the client has not said it can do.`;
      this.#note(sentence);
      this.onRefused(sentence);
    } else this.onRefused(`${asked}, and was refused: ${cut(why.replace(/\s+/g, ' '), SHOWN_REASON)}`);
  }

  /** True where it was for us. */
  #hear({ method, params }: { method: string; params?: unknown }): boolean {
    if (method === 'notifications/message') this.#logs += 1;
    if (method !== 'notifications/progress') return false;
    const hear = this.#progress.get(String((params as { progressToken?: unknown })?.progressToken));
    hear?.();
    return hear !== undefined;
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

  /** As many as there are open requests: they were probably the answers. */
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
    const said = this.#oddities[0] === undefined ? '' : ` ${this.#oddities[0]}`;
    this.#abandon(
      new ServerFault(
        'protocol',
        `The server floods its output: more than ${amount} came and no answer among them.${said}`,
      ),
    );
  }

  #abandon(fault: ServerFault): void {
    this.#messages = 0;
    this.#bytes = 0;
    this.#actions.abandon(fault);
  }
}

/** Of any depth and size. */
const shownMessage = (message: JSONRPCMessage) => cut(JSON.stringify(bounded(message)), SHOWN);
