import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { INVALID_REQUEST, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { MESSAGE_LIMITS, type MessageLimits, MessageScan, type Refused } from './message-scan.js';

const NEWLINE = 0x0a;
/** While more than this is unread, the client's input is not read. */
const MOST_UNREAD = 16 * 1024 * 1024;

/**
 * Messages as lines of JSON. Every call passes here, so it checks only what the protocol behind does not: that protocol
 * validates each message several times.
 */
export class StdioTransport implements Transport {
  onmessage?: Transport['onmessage'];
  onerror?: (error: Error) => void;
  onclose?: () => void;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #lines: LineReader;
  #isClosed = false;

  constructor(input: Readable, output: Writable, limits?: MessageLimits) {
    this.#input = input;
    this.#output = output;
    const refuse = (refused: Refused) => this.#refuse(refused);
    this.#lines = new LineReader((line) => this.#take(line), refuse, limits);
  }

  async start(): Promise<void> {
    const end = () => void this.close();
    // It stays after the end: a reply to a client that has gone away is no failure of the server.
    this.#output.on('error', (error) => {
      if (!this.#isClosed) this.onerror?.(error);
      end();
    });
    this.#input.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#input.on('error', (error) => this.onerror?.(error));
    this.#input.once('end', end).once('close', end);
  }

  /** Resolves when the client has read enough for the next message. */
  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed.');
    if (!this.#output.write(`${JSON.stringify(message)}\n`)) await once(this.#output, 'drain');
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  #receive(chunk: Buffer): void {
    if (!this.#isClosed) this.#lines.feed(chunk);
    if (this.#output.writableLength <= MOST_UNREAD) return;
    this.#input.pause();
    this.#output.once('drain', () => this.#input.resume());
  }

  /** Lines that are not JSON are ignored, as the official transport does. */
  #take(line: Buffer): void {
    let message: unknown;
    try {
      message = JSON.parse(line.toString());
    } catch {
      if (hasForeignNumber(line)) this.#refuse({ id: idIn(line), problem: FOREIGN_NUMBER });
      return;
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.onerror?.(new Error('A line is JSON, but no JSON-RPC message.'));
  }

  #refuse({ id, problem }: Refused): void {
    this.onerror?.(new Error(problem));
    const refusal = { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message: problem } };
    this.#output.write(`${JSON.stringify(refusal)}\n`);
  }
}

/**
 * Splits input into lines. A line beyond the limits is dropped and refused without being held in memory.
 */
export class LineReader {
  readonly #onLine: (line: Buffer) => void;
  readonly #refuse: (refused: Refused) => void;
  readonly #limits: MessageLimits;
  /** A line of so many bytes is within all limits. */
  readonly #small: number;
  /** The beginning of a line, unless it is beyond the limits. */
  #pieces: Buffer[] = [];
  #scan: MessageScan | undefined;

  constructor(
    onLine: (line: Buffer) => void,
    refuse: (refused: Refused) => void,
    limits: MessageLimits = MESSAGE_LIMITS,
  ) {
    this.#onLine = onLine;
    this.#refuse = refuse;
    this.#limits = limits;
    this.#small = Math.min(...Object.values(limits));
  }

  feed(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const end = chunk.subarray(from, at);
      if (this.#scan === undefined && end.length <= this.#small) this.#onLine(end);
      else this.#endLine(end);
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  #hold(piece: Buffer): MessageScan {
    this.#scan ??= new MessageScan(this.#limits);
    this.#scan.add(piece);
    if (this.#scan.problem === undefined) this.#pieces.push(piece);
    else this.#pieces = [];
    return this.#scan;
  }

  #endLine(end: Buffer): void {
    const { id, problem } = this.#hold(end);
    const line = this.#pieces.length === 1 ? end : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#scan = undefined;
    if (problem === undefined) this.#onLine(line);
    else this.#refuse({ id, problem });
  }
}

/** The protocol checks the rest. */
const isMessage = (value: unknown): value is JSONRPCMessage =>
  typeof value === 'object' && value !== null && (value as { jsonrpc?: unknown }).jsonrpc === '2.0';

/** Python writes NaN and Infinity into JSON. */
const FOREIGN_NUMBER = 'The message is not valid JSON: replace NaN and Infinity by null or a string.';
const hasForeignNumber = (line: Buffer) => line.includes('NaN') || line.includes('Infinity');

function idIn(line: Buffer): Refused['id'] {
  const scan = new MessageScan();
  scan.add(line);
  return scan.id;
}
