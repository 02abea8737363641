import { afterAll } from 'vitest';
import { ServerUnderTest } from '../../core/src/contract/spec.js';
import { freePort, startProcess, untilListening } from '../../harness/src/run/start-server.js';

/** Starts a server over HTTP, for the tests of a file, and gives its address once it answers. */
export async function httpServer(
  file: string,
  { args = (port: number) => [String(port)], env = (_: number): Record<string, string> => ({}) } = {},
): Promise<URL> {
  const port = await freePort();
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  const server = ServerUnderTest.parse({
    command: process.execPath,
    args: [file, ...args(port)],
    env: env(port),
  });
  const child = await startProcess(
    { ...server, command: process.execPath },
    { environment: process.env, folder: process.cwd(), python: undefined },
  );
  afterAll(() => child.stop(1000, { readsInput: false }));
  await untilListening(url, child, AbortSignal.timeout(60_000));
  return url;
}
