import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { parseAuthority, parseHost, type Target, writeTarget } from './hosts.js';
import { type Policy, reach } from './policy.js';

import { Refusal, writeRefusal } from './refusal.js';
import type { RunConnections } from './run-connections.js';
import { type Hello, HelloReader } from './server-name.js';

/** A real hello has at most two kilobytes, and six times as many if it is split into the smallest records. */
const LONGEST_START = 40 * 1024;
const ESTABLISHED = 'HTTP/1.1 200 Connection established\r\n\r\n';
/** The TLS alert "access denied", which clients name in their exceptions. */
const ACCESS_DENIED = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/** Answers CONNECT: bytes pass both ways after the client has begun TLS with the requested server. */
export async function tunnel(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  policy: Policy,
  run: RunConnections,
): Promise<void> {
  client.on('error', () => client.destroy());
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  if (client.destroyed) return;
  let target: Target;
  let server: Socket;
  try {
    target = readTarget(request);
    server = await reach(target, policy, run, gone.signal);
  } catch (error) {
    const refusal = error instanceof Refusal ? error : new Refusal(502, 'The proxy failed.');
    client.write(writeRefusal(refusal));
    return void client.destroySoon();
  }
  if (server.destroyed) return void client.destroy();
  const cut = () => client.destroy();
  server.once('close', cut);
  client.write(ESTABLISHED);
  const start = await readStart(client, head, target, policy.timeouts.hello);
  if (start instanceof Refusal) {
    run.record(target, start.message);
    server.off('close', cut).destroy();
    client.write(ACCESS_DENIED);
    return void client.destroySoon();
  }
  for (const socket of [client, server]) socket.setTimeout(policy.timeouts.idle, () => void socket.destroy());
  pass(client, server, start, (bytes) => run.count(target, bytes));
}

function readTarget({ url = '', headers }: IncomingMessage): Target {
  const { host, port } = parseAuthority(url) ?? {};
  if (!host || port === undefined) throw new Refusal(400, 'CONNECT must name a host and a port.');
  const named = headers.host === undefined ? host : parseAuthority(headers.host)?.host;
  if (named?.text !== host.text) throw new Refusal(400, 'The Host header names another host than CONNECT.');
  return { host, port };
}

/** Reads the first bytes, up to a whole hello that names the right server; nothing is passed on before. */
function readStart(
  client: Socket,
  head: Buffer,
  target: Target,
  timeoutMs: number,
): Promise<Buffer | Refusal> {
  return new Promise((resolve) => {
    const reader = new HelloReader();
    const begun = Buffer.alloc(LONGEST_START);
    let length = 0;
    const settle = (result: Buffer | Refusal) => {
      clearTimeout(timer);
      client.off('data', take);
      client.pause();
      resolve(result);
    };
    const take = (chunk: Buffer) => {
      const hello = reader.take(chunk);
      if (hello.kind === 'incomplete' && length + chunk.length <= LONGEST_START) {
        length += chunk.copy(begun, length);
        return;
      }
      settle(judge(hello, target) ?? Buffer.concat([begun.subarray(0, length), chunk]));
    };
    const cutShort = () => settle(new Refusal(403, `No TLS connection to ${writeTarget(target)} was begun.`));
    const timer = setTimeout(cutShort, timeoutMs);
    client.once('end', cutShort);
    client.once('close', cutShort);
    client.on('data', take);
    take(head);
    // It may have ended during the connection to the host, before anything listened.
    if (client.readableEnded) cutShort();
  });
}

/** Returns undefined if it may pass. */
function judge(hello: Hello, target: Target): Refusal | undefined {
  const asked = writeTarget(target);
  if (hello.kind !== 'hello')
    return new Refusal(403, `Only TLS may pass to ${asked} after CONNECT, and something else was sent.`);
  if (hello.hidesName)
    return new Refusal(403, `The name of the server at ${asked} was encrypted and cannot be checked.`);
  if (hello.serverName === null) {
    if (target.host.kind === 'address') return undefined;
    return new Refusal(403, `The TLS connection to ${asked} did not name its server.`);
  }
  const named = parseHost(hello.serverName);
  if (named?.text === target.host.text) return undefined;
  return new Refusal(
    403,
    `The TLS connection to ${asked} named another server, ${JSON.stringify(hello.serverName.slice(0, 100))}.`,
  );
}

function pass(client: Socket, server: Socket, start: Buffer, count: (bytes: number) => void): void {
  count(start.length);
  server.write(start);
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('data', (chunk: Buffer) => count(chunk.length));
    from.pipe(to);
  }
}
