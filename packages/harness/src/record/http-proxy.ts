import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Recorder } from './recorder.js';

/** Takes a stream of server-sent events apart into the data of each, kept only up to a bound. */
export class EventReader {
  readonly #most: number;
  readonly #onData: (data: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #length = 0;

  constructor(most: number, onData: (data: string) => void) {
    this.#most = most;
    this.#onData = onData;
  }

  add(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line.replace(/\r$/, ''));
    if (this.#rest.length > this.#most) this.#rest = '';
  }

  #take(line: string): void {
    if (line === '') {
      if (this.#data.length > 0 && this.#length <= this.#most) this.#onData(this.#data.join('\n'));
      this.#data = [];
      this.#length = 0;
    }
    if (!line.startsWith('data:')) return;
    this.#length += line.length;
    if (this.#length <= this.#most) this.#data.push(line.slice('data:'.length).replace(/^ /, ''));
  }
}

interface ProxyOptions {
  /** Where the server answers. */
  url: URL;
  /** 0: any that is free. */
  port: number;
  /** Sent in addition to what the client sends. */
  headers: Readonly<Record<string, string>>;
  recorder: Recorder;
  /** After every call that has been completed. */
  onCall: () => void;
  /** What people should hear of. */
  onProblem: (sentence: string) => void;
}

/** Longer messages are passed on, and not recorded. */
const MOST_BYTES = 10 * 1024 * 1024;
const SESSION = 'mcp-session-id';
/** Of one connection alone, or ours to say. */
const NOT_PASSED_ON = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'accept-encoding'];
const CREDENTIALS = /^(authorization|cookie)$|api-?key|token|secret/i;

/**
 * Stands between clients and a server over HTTP: passes on every request and every answer as it comes, streams
 * included, and lets the recorder read along.
 */
export class HttpProxy {
  /** Names of headers by which clients show who they are. Their values are kept nowhere. */
  readonly credentials = new Set<string>();
  readonly #options: ProxyOptions;
  readonly #server: Server;
  #exchanges = 0;

  /** Throws an Error where the port cannot be had. */
  static async start(options: ProxyOptions): Promise<HttpProxy> {
    const proxy = new HttpProxy(options);
    proxy.#server.listen(options.port, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(options: ProxyOptions) {
    this.#options = options;
    this.#server = createServer((asked, answer) => this.#exchange(asked, answer));
  }

  /** What clients are given in place of the server's address. */
  get url(): string {
    const { pathname, search } = this.#options.url;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${pathname}${search}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #exchange(asked: IncomingMessage, answer: ServerResponse): void {
    const { url, recorder, onProblem } = this.#options;
    answer.on('error', () => {});
    if (!isFromHere(asked.headers)) {
      answer.writeHead(403).end('Only 127.0.0.1 and localhost are served here.\n');
      return;
    }
    this.#exchanges += 1;
    const own = `exchange ${this.#exchanges}`;
    const scope = String(asked.headers[SESSION] ?? own);
    const send = url.protocol === 'https:' ? requestSecurely : request;
    const passed = send(url, {
      method: asked.method,
      // As it came. Read as an address, it could name another server, which would then be sent our headers.
      path: asked.url,
      headers: this.#headersFor(asked),
    });
    passed.on('error', (error) => {
      if (answer.destroyed) return;
      const sentence = `the server cannot be reached: ${error.message || (error as NodeJS.ErrnoException).code}`;
      onProblem(sentence);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502, { 'content-type': 'text/plain' }).end(`pungi: ${sentence}\n`);
    });
    passed.on('response', (given) => this.#passBack(given, answer, scope));
    answer.on('close', () => {
      passed.destroy();
      recorder.endOf(own);
    });
    const words = wholeOf((text) => recorder.fromClient(text, scope));
    asked.on('data', words.add);
    // Before it is sent to its end, and so before it is answered.
    asked.on('end', words.end);
    asked.pipe(passed);
  }

  #passBack(given: IncomingMessage, answer: ServerResponse, scope: string): void {
    const { recorder, onCall } = this.#options;
    answer.writeHead(given.statusCode ?? 502, given.statusMessage, withoutOwn(given.headers));
    answer.flushHeaders();
    const heard = (text: string) => {
      if (recorder.fromServer(text, scope)) onCall();
    };
    if (String(given.headers['content-type']).startsWith('text/event-stream')) {
      const events = new EventReader(MOST_BYTES, heard);
      given.on('data', (chunk: Buffer) => events.add(chunk));
    } else {
      const words = wholeOf(heard);
      given.on('data', words.add);
      given.on('end', words.end);
    }
    given.on('error', () => answer.destroy());
    given.pipe(answer);
  }

  #headersFor(asked: IncomingMessage): Record<string, string | string[]> {
    const { headers } = this.#options;
    for (const name of Object.keys(asked.headers)) if (CREDENTIALS.test(name)) this.credentials.add(name);
    // Compressed, nobody could read along.
    return { ...withoutOwn(asked.headers), ...headers, 'accept-encoding': 'identity' };
  }
}

/**
 * A page in a browser could otherwise reach the server, by a name that somebody has lead here, or from an origin of its own. Pages
 * of this machine, such as the Inspector, may.
 */
const isFromHere = ({ host, origin }: IncomingMessage['headers']): boolean =>
  /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '') &&
  (origin === undefined || /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(origin));

const withoutOwn = (headers: IncomingMessage['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !NOT_PASSED_ON.includes(entry[0]),
    ),
  );

/** Hears the whole of a body, unless it is too long. */
function wholeOf(hear: (text: string) => void): { add: (chunk: Buffer) => void; end: () => void } {
  const parts: Buffer[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) parts.push(chunk);
    },
    end: () => {
      if (bytes > 0 && bytes <= MOST_BYTES) hear(Buffer.concat(parts).toString('utf8'));
    },
  };
}
