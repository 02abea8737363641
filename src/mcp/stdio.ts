import { INVALID_REQUEST } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Logger, silentLogger } from '../base/logger.js';
import type { Pungi } from '../pungi.js';
import { createServerFactory, type Extension } from './server.js';
import { StdioInput } from './stdio-input.js';

export interface StdioOptions {
  logger?: Logger;
  extension?: Extension;
}

export interface StdioDoor {
  /** Resolves when the client has closed its end, or after close(). */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client over this process's stdin and stdout. Answers at once, whatever the engine is still doing. */
export function startStdio(pungi: Pungi, { logger = silentLogger, extension }: StdioOptions = {}): StdioDoor {
  // Every reply that waits for a slow reader listens; there may be as many as runs.
  process.stdout.setMaxListeners(0);
  let end = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const makeServer = createServerFactory(pungi, extension);
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
  return { closed, close: () => handle.close().finally(end) };
}
