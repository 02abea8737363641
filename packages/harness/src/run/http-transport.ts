import {
  type JSONRPCMessage,
  type RequestId,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { ServerFault } from './server-fault.js';
import { Traffic } from './traffic.js';

/** The SDK's HTTP transport, with a check: a response without an answer ends the call at once. */
export class HttpTransport implements Transport {
  readonly hasPerRequestStream = true;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly traffic: Traffic;
  fault: ServerFault | undefined;
  readonly #inner: StreamableHTTPClientTransport;
  #isClosed = false;

  constructor(url: URL, headers: Readonly<Record<string, string>>) {
    const abandon = (fault: ServerFault) => {
      this.end(fault);
      // The rest of the response is not read.
      void this.#inner.close().catch(() => {});
    };
    this.#inner = new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { ...headers } },
      fetch: boundedFetch(abandon),
    });
    this.traffic = new Traffic({ fail: (id, fault) => this.#answerInstead(id, fault), abandon });
    this.#inner.onmessage = (message) => {
      if (this.traffic.received(message)) this.onmessage?.(message);
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onclose = () => this.end(undefined);
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (this.#isClosed) throw this.fault ?? new ServerFault('server', 'The connection is closed.');
    this.traffic.sent(message);
    const { resumptionToken, onresumptiontoken, requestSignal, headers } = options ?? {};
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    try {
      await this.#inner.send(message, {
        ...(resumptionToken === undefined ? {} : { resumptionToken }),
        ...(onresumptiontoken === undefined ? {} : { onresumptiontoken }),
        ...(requestSignal === undefined ? {} : { requestSignal }),
        ...(headers === undefined ? {} : { headers }),
        ...(id === undefined ? {} : { onRequestStreamEnd: () => this.traffic.responseEnded(id) }),
      });
    } catch (error) {
      if (id !== undefined) this.traffic.forget(id);
      throw error;
    }
  }

  /** Ends the session, if the server has sessions. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    if (this.#inner.sessionId !== undefined) {
      const closing = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
      const timeout = new Promise((resolve) => closing.addEventListener('abort', resolve));
      await Promise.race([this.#inner.terminateSession().catch(() => {}), timeout]);
    }
    this.end(undefined);
    await this.#inner.close();
  }

  end(fault: ServerFault | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.fault = fault;
    this.traffic.close();
    this.onclose?.();
  }

  #answerInstead(id: RequestId, fault: ServerFault): void {
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32603, message: fault.message, data: fault } });
  }
}

const CLOSE_TIMEOUT_MS = 2000;

/** A larger message would be held in memory until it ends, if it ever does. */
const MOST_BYTES = 64 * 1024 * 1024;
const EVENT_ENDS = ['\n\n', '\r\n\r\n', '\r\r'];

/** `fetch` with a size limit for messages: for each event of a stream, else for the body. */
export function boundedFetch(onTooMuch: (fault: ServerFault) => void, most = MOST_BYTES): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const isStream = (headers.get('content-type') ?? '').includes('text/event-stream');
    let bytes = 0;
    const meter = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const ended = isStream ? lastEventEnd(chunk) : -1;
        bytes = ended < 0 ? bytes + chunk.length : chunk.length - ended;
        if (bytes <= most) return controller.enqueue(chunk);
        const fault = new ServerFault(
          'protocol',
          `The server sent more than ${most / 1024 ** 2} MB as one message, which is not finished.`,
        );
        controller.error(fault);
        onTooMuch(fault);
      },
    });
    return new Response(body.pipeThrough(meter), { status, statusText, headers });
  };
}

/** The end of the last event in a chunk. An end between two chunks is not detected, and need not be. */
function lastEventEnd(chunk: Uint8Array): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  return Math.max(...EVENT_ENDS.map((end) => bytes.lastIndexOf(end)));
}
