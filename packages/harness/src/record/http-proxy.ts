import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Recorder } from './recorder.js';

/** Splits a stream of server-sent events into the data of each event, up to a limit. */
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
  /** The server's address. */
  url: URL;
  /** 0: any free port. */
  port: number;
  /** Added to the client's headers. */
  headers: Readonly<Record<string, string>>;
  recorder: Recorder;
  /** Called after every completed call. */
  onCall: () => void;
  /** Reports problems to the user. */
  onProblem: (sentence: string) => void;
}

/** Longer messages are forwarded but not recorded. */
const MOST_BYTES = 10 * 1024 * 1024;
const SESSION = 'mcp-session-id';
/** Headers of one connection, or set by the proxy. */
const NOT_FORWARDED = ['host', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'accept-encoding'];
const CREDENTIALS = /^(authorization|cookie)$|api-?key|token|secret/i;

/**
 * Forwards requests and answers between clients and a server over HTTP, including streams, and passes copies to the
 * recorder.
 */
export class HttpProxy {
  /** Names of headers with credentials. Their values are not stored. */
  readonly credentials = new Set<string>();
  readonly #options: ProxyOptions;
  readonly #server: Server;
  #exchanges = 0;

  /** Throws an Error if the port is not available. */
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

  /** The address for clients, instead of the server's. */
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
      answer.writeHead(403).end('Only requests to 127.0.0.1 or localhost are served here.\n');
      return;
    }
    this.#exchanges += 1;
    const own = `exchange ${this.#exchanges}`;
    const scope = String(asked.headers[SESSION] ?? own);
    const send = url.protocol === 'https:' ? requestSecurely : request;
    const passed = send(url, {
      method: asked.method,
      // Forwarded verbatim: parsed as a URL, it could name another server, which would get our headers.
      path: asked.url,
      headers: this.#headersFor(asked),
    });
    passed.on('error', (error) => {
      if (answer.destroyed) return;
      const sentence = `could not reach the server: ${error.message || (error as NodeJS.ErrnoException).code}`;
      onProblem(sentence);
      if (answer.headersSent) answer.destroy();
      else answer.writeHead(502, { 'content-type': 'text/plain' }).end(`pungi: ${sentence}\n`);
    });
    passed.on('response', (given) => this.#passBack(given, answer, scope));
    answer.on('close', () => {
      passed.destroy();
      recorder.endOf(own);
    });
    const body = wholeOf((text) => recorder.fromClient(text, scope));
    asked.on('data', body.add);
    // Recorded before the request is fully sent, and so before it is answered.
    asked.on('end', body.end);
    asked.pipe(passed);
  }

  #passBack(given: IncomingMessage, answer: ServerResponse, scope: string): void {
    const { recorder, onCall } = this.#options;
    answer.writeHead(given.statusCode ?? 502, given.statusMessage, withoutOwn(given.headers));
    answer.flushHeaders();
    const onMessage = (text: string) => {
      if (recorder.fromServer(text, scope)) onCall();
    };
    if (String(given.headers['content-type']).startsWith('text/event-stream')) {
      const events = new EventReader(MOST_BYTES, onMessage);
      given.on('data', (chunk: Buffer) => events.add(chunk));
    } else {
      const body = wholeOf(onMessage);
      given.on('data', body.add);
      given.on('end', body.end);
    }
    given.on('error', () => answer.destroy());
    given.pipe(answer);
  }

  #headersFor(asked: IncomingMessage): Record<string, string | string[]> {
    const { headers } = this.#options;
    for (const name of Object.keys(asked.headers)) if (CREDENTIALS.test(name)) this.credentials.add(name);
    // Compressed bodies could not be recorded.
    return { ...withoutOwn(asked.headers), ...headers, 'accept-encoding': 'identity' };
  }
}

/**
 * Rejects browser pages of other origins, and DNS rebinding. Pages of this machine, such as the MCP Inspector, are allowed.
 */
const isFromHere = ({ host, origin }: IncomingMessage['headers']): boolean =>
  /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(host ?? '') &&
  (origin === undefined || /^http:\/\/(127\.0\.0\.1|localhost)(:\d+)?$/.test(origin));

const withoutOwn = (headers: IncomingMessage['headers']): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).filter(
      (entry): entry is [string, string | string[]] =>
        entry[1] !== undefined && !NOT_FORWARDED.includes(entry[0]),
    ),
  );

/** Collects a whole body, unless it is too long. */
function wholeOf(onText: (text: string) => void): { add: (chunk: Buffer) => void; end: () => void } {
  const parts: Buffer[] = [];
  let bytes = 0;
  return {
    add: (chunk) => {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) parts.push(chunk);
    },
    end: () => {
      if (bytes > 0 && bytes <= MOST_BYTES) onText(Buffer.concat(parts).toString('utf8'));
    },
  };
}
