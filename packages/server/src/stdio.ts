import { Transform, type TransformCallback, type Writable } from 'node:stream';
import { INVALID_REQUEST } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Pungi } from '@pungi/core';
import { type Logger, silentLogger } from '@pungi/core/base';
import { Wrapping } from '@pungi/wrap';
import { MESSAGE_LIMITS, type MessageLimits, MessageScan, type Refused } from './message-scan.js';
import { createServerFactory, type Extension } from './server.js';

interface StdioOptions {
  logger?: Logger;
  extension?: Extension;
}

interface StdioDoor {
  /** Resolves when the client has closed its end, or after close(). */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client over this process's stdin and stdout. It answers at once, even while the engine starts.
 */
export function startStdio(pungi: Pungi, { logger = silentLogger, extension }: StdioOptions = {}): StdioDoor {
  // Every reply that waits for a slow reader adds a listener; there may be as many as runs.
  process.stdout.setMaxListeners(0);
  let end = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const wrapping = new Wrapping(pungi);
  const makeServer = createServerFactory(pungi, wrapping, extension);
  const onerror = (error: Error) => logger.error('MCP over stdio', { problem: error.message });
  const input = new StdioInput(process.stdout, ({ id, problem }) => {
    onerror(new Error(problem));
    const refusal = { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: problem } };
    process.stdout.write(`${JSON.stringify(refusal)}\n`);
  });
  process.stdin.pipe(input);
  const transport = new StdioServerTransport(input, process.stdout);
  const handle = serveStdio(() => makeServer({ lives: true }), { transport, onerror });
  process.stdin.once('end', end).once('close', end);
  process.stdout.once('error', end);
  return {
    closed,
    close: () =>
      Promise.all([handle.close(), wrapping.close()])
        .then(() => {})
        .finally(end),
  };
}

const NEWLINE = 0x0a;
/** While more than this is unread, the client's input is not read. */
const MOST_UNREAD = 16 * 1024 * 1024;

/**
 * Splits the client's input into lines. A line beyond the limits is dropped and refused without being held in memory: the
 * transport behind would parse it, or close the connection.
 */
export class StdioInput extends Transform {
  readonly #limits: MessageLimits;
  readonly #output: Writable;
  readonly #refuse: (refused: Refused) => void;
  #scan: MessageScan;
  #pieces: Buffer[] = [];

  /** `output`: the stream that the replies go to. */
  constructor(output: Writable, refuse: (refused: Refused) => void, limits: MessageLimits = MESSAGE_LIMITS) {
    super();
    this.#output = output;
    this.#refuse = refuse;
    this.#limits = limits;
    this.#scan = new MessageScan(limits);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#take(chunk.subarray(from, at + 1));
      this.#endLine();
      from = at + 1;
    }
    this.#take(chunk.subarray(from));
    if (this.#output.writableLength > MOST_UNREAD) this.#output.once('drain', () => done());
    else done();
  }

  #take(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#scan.add(piece);
    if (this.#scan.problem === undefined) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #endLine(): void {
    const { id } = this.#scan;
    const line = Buffer.concat(this.#pieces);
    const problem = this.#scan.problem ?? notJson(line);
    if (problem === undefined) this.push(line);
    else this.#refuse({ id, problem });
    this.#pieces = [];
    this.#scan = new MessageScan(this.#limits);
  }
}

/**
 * Refuses NaN and Infinity, which Python writes into JSON: the transport behind drops such a line without a
 * reply.
 */
function notJson(line: Buffer): string | undefined {
  if (!line.includes('NaN') && !line.includes('Infinity')) return undefined;
  try {
    JSON.parse(line.toString());
    return undefined;
  } catch {
    return 'The message is not valid JSON: replace NaN and Infinity by null or a string.';
  }
}
