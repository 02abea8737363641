import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { type Logger, silentLogger } from '../base/logger.js';
import type { Pungi } from '../pungi.js';
import { createServerFactory, type Extension } from './server.js';

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
  const handle = serveStdio(() => makeServer({ lives: true }), {
    onerror: (error) => {
      logger.error('MCP over stdio', { problem: error.message });
      setImmediate(endIfDeaf);
    },
  });
  /** After a message beyond its limit the transport listens no more; a client can only start another server. */
  const endIfDeaf = () => {
    if (process.stdin.listenerCount('data') > 0) return;
    logger.error('The server ends: its transport has given up reading');
    end();
  };
  process.stdin.once('end', end).once('close', end);
  process.stdout.once('error', end);
  return { closed, close: () => handle.close().finally(end) };
}
