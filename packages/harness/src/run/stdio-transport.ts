import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/client';
import type { ServerProcess } from '@pungi/core/processes';
import { isMap } from '../judge/answer.js';
import { ServerFault } from './server-fault.js';
import { Traffic } from './traffic.js';

const NEWLINE = 10;

/** Splits a stream into lines, each kept up to a limit. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: (bytes: number, beginning: string) => void;
  readonly #most: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(
    most: number,
    onLine: (line: string) => void,
    onTooLong: (bytes: number, beginning: string) => void,
  ) {
    this.#most = most;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  add(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = this.rest();
      if (line !== '') this.#onLine(line);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Returns the unfinished line and forgets it. */
  rest(): string {
    const whole = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString('utf8').trimEnd();
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes > this.#most) {
      const bytes = this.#bytes;
      this.#onTooLong(bytes, this.rest());
    }
  }
}

/** The largest message that the SDK's own transport accepts. */
const MOST_LINE_BYTES = 10 * 1024 * 1024;
/** The time for a server to exit after it has closed its output. */
const EXIT_GRACE_MS = 1000;

/**
 * The stdio transport of a server under test: like the SDK's, but it sees every line and reports every end.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly traffic: Traffic;
  /** Why the connection is unusable. */
  fault: ServerFault | undefined;
  readonly #process: ServerProcess;
  readonly #lines: LineReader;
  #isClosed = false;

  constructor(process: ServerProcess) {
    this.#process = process;
    this.traffic = new Traffic({
      fail: (id, fault) => this.#answerInstead(id, fault),
      abandon: (fault) => this.#end(fault),
    });
    this.#lines = new LineReader(
      MOST_LINE_BYTES,
      (line) => this.#take(line),
      (_, beginning) => this.traffic.tooLong(MOST_LINE_BYTES, beginning),
    );
  }

  /** The SDK recognizes stdio by these two properties. */
  get pid(): number {
    return this.#process.pid;
  }
  get stderr(): null {
    return null;
  }

  async start(): Promise<void> {
    const { stdout, exited } = this.#process;
    stdout.on('data', (chunk: Buffer) => {
      if (!this.#isClosed) this.#lines.add(chunk);
    });
    stdout.once('end', () => setTimeout(() => this.#end(outputClosed()), EXIT_GRACE_MS).unref());
    void exited.then((end) => {
      if (this.#isClosed) return;
      const half = this.#lines.rest();
      if (half !== '') this.traffic.halfLine(half);
      this.#end(endedFault(end, half));
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw this.fault ?? new ServerFault('server', 'The connection is closed.');
    this.traffic.sent(message);
    // A server that does not read fills the pipe. Calls have time limits, so there is nothing to wait for
    // here.
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#end(undefined);
  }

  #take(line: string): void {
    if (this.#isClosed) return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      this.traffic.notAMessage(line, 'json');
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(withoutNullId(value));
    } catch {
      this.traffic.notAMessage(line, 'message');
      return;
    }
    if (this.traffic.received(message, line.length)) this.onmessage?.(message);
  }

  /** Answers a pending request that the server will never answer. */
  #answerInstead(id: RequestId, fault: ServerFault): void {
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32603, message: fault.message, data: fault } });
  }

  #end(fault: ServerFault | undefined): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.fault = fault;
    this.traffic.close();
    if (fault !== undefined && this.#process.end === undefined) this.#process.kill();
    this.onclose?.();
  }
}

/** A server that cannot read a request answers with an error whose id is null: the SDK expects no id. */
function withoutNullId(value: unknown): unknown {
  if (!isMap(value) || value['id'] !== null || !('error' in value)) return value;
  const { id: _, ...rest } = value;
  return rest;
}

const outputClosed = () =>
  new ServerFault('server', 'The server closed its stdout but kept running: it can no longer be called.');

type End = NonNullable<ServerProcess['end']>;

const asRoot = (refusal: string) =>
  refusal === 'Permission denied' && process.getuid?.() === 0
    ? '; started by root, it runs as another user, and needs folders that every user can read'
    : '';

export function endedFault({ status, signal, refusal }: End, half = ''): ServerFault {
  if (refusal !== undefined)
    return new ServerFault(
      'server',
      `Could not start the server in the sandbox: ${refusal}${asRoot(refusal)}. Without "sandbox: true" it runs with your own rights.`,
    );
  const how = signal === null ? `with status ${status}` : `by ${signal}`;
  const where = half === '' ? '' : `, in the middle of a message: ${half.slice(0, 200)}`;
  return new ServerFault('server', `The server ended ${how}${where}.`);
}
