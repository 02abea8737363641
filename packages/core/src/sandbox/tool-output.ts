import { basename } from 'node:path';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { PungiError } from '../base/errors.js';

/** No tool prints this much; more would fill the server's memory. */
const MOST_TOOL_OUTPUT_BYTES = 16 * 1024 * 1024;

type Channel = 'stdout' | 'stderr';

/** The output of a tool, up to a limit at which it is stopped. */
export class ToolOutput {
  readonly #tool: string;
  readonly #stop: (why: PungiError) => void;
  readonly #onLine: ((line: string) => void) | undefined;
  readonly #chunks: Record<Channel, Buffer[]> = { stdout: [], stderr: [] };
  readonly #decoder = new StringDecoder('utf8');
  #bytes = 0;
  #begun = '';

  constructor(tool: string, stop: (why: PungiError) => void, onLine?: (line: string) => void) {
    this.#tool = basename(tool);
    this.#stop = stop;
    this.#onLine = onLine;
  }

  read(channel: Channel, stream: Readable): void {
    stream.on('data', (chunk: Buffer) => this.#take(channel, chunk));
    stream.on('error', () => {});
  }

  finish(): Record<Channel, string> {
    if (this.#begun !== '') this.#onLine?.(this.#begun);
    this.#begun = '';
    const join = (channel: Channel) => Buffer.concat(this.#chunks[channel]).toString('utf8');
    return { stdout: join('stdout'), stderr: join('stderr') };
  }

  #take(channel: Channel, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_TOOL_OUTPUT_BYTES) {
      this.#stop(this.#tooMuch());
      return;
    }
    this.#chunks[channel].push(chunk);
    if (channel === 'stderr' && this.#onLine) this.#emitLines(chunk, this.#onLine);
  }

  #emitLines(chunk: Buffer, onLine: (line: string) => void): void {
    const lines = (this.#begun + this.#decoder.write(chunk)).split('\n');
    this.#begun = lines.pop()!;
    for (const line of lines) onLine(line);
  }

  #tooMuch(): PungiError {
    const megabytes = MOST_TOOL_OUTPUT_BYTES / 1024 ** 2;
    return new PungiError(
      'OUTPUT_LIMIT_EXCEEDED',
      `${this.#tool} printed more than ${megabytes} MB and was stopped.`,
      { tool: this.#tool, limitBytes: MOST_TOOL_OUTPUT_BYTES },
    );
  }
}
