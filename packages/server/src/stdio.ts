import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Pungi } from '@pungi/core';
import { type Logger, silentLogger } from '@pungi/core/base';
import { Wrapping } from '@pungi/wrap';
import { createServerFactory, type Extension } from './server.js';
import { StdioTransport } from './stdio-transport.js';

/** A problem may quote a message of the client. */
const MOST_LOGGED = 1000;

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
  const onerror = ({ message }: Error) =>
    logger.error('MCP over stdio', { problem: message.slice(0, MOST_LOGGED) });
  const transport = new StdioTransport(process.stdin, process.stdout);
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
