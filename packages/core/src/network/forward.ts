import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { parseAuthority, type Target, writeHost } from './hosts.js';
import { type Policy, reach } from './policy.js';

import { Refusal, statusLine } from './refusal.js';
import type { RunConnections } from './run-connections.js';

/** Hop-by-hop headers concern one connection and are not passed on. `expect` was answered already. */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
]);
const ABSOLUTE = /^http:\/\/([^/?#]*)([/?][^#]*)?$/i;

/** A host that sends more informational responses than this never answers. */
const MOST_INFORMATION = 20;

/** Passes on one request with an absolute address, and its answer. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  policy: Policy,
  run: RunConnections,
): Promise<void> {
  const client = request.socket;
  const gone = new AbortController();
  const giveUp = () => gone.abort();
  client.once('close', giveUp);
  try {
    if (client.destroyed) return;
    const { target, path } = readTarget(request);
    const socket = await reach(target, policy, run, gone.signal);
    await exchange({ request, response, target, path, run, socket, gone: gone.signal }).finally(() =>
      socket.destroy(),
    );
  } catch (error) {
    refuse(response, error instanceof Refusal ? error : new Refusal(502, 'The host gave no proper answer.'));
  } finally {
    client.off('close', giveUp);
  }
}

function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close' };
  response.writeHead(refusal.status, statusLine(refusal), headers).end(`${refusal.message}\n`);
}

function readTarget(request: IncomingMessage): { target: Target; path: string } {
  const { url = '', method, headersDistinct: headers } = request;
  if (/^https:/i.test(url))
    throw new Refusal(
      400,
      'The proxy passes https addresses on after CONNECT only, so that nobody reads along.',
    );
  const [, authority = '', rest = '/'] = ABSOLUTE.exec(url) ?? [];
  const { host, port = 80 } = parseAuthority(authority) ?? {};
  if (!host)
    throw new Refusal(400, 'The request must name a whole address, such as http://api.example.com/path.');
  if (method === 'TRACE') throw new Refusal(400, 'TRACE does not pass the proxy.');
  if (headers['upgrade'])
    throw new Refusal(400, 'Another protocol than HTTP, such as WebSocket, does not pass the proxy.');
  if (headers['content-length'] && headers['transfer-encoding'])
    throw new Refusal(400, 'The request gives its length in two ways.');
  const coding = headers['transfer-encoding'];
  if (coding && (coding.length > 1 || coding[0]?.toLowerCase() !== 'chunked'))
    throw new Refusal(400, 'The only transfer encoding that passes the proxy is chunked.');
  for (const named of hostsNamed(request)) {
    const stated = parseAuthority(named);
    if (stated?.host.text !== host.text || (stated.port ?? 80) !== port)
      throw new Refusal(400, 'The Host header names another host than the address.');
  }
  return { target: { host, port }, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Returns all Host headers, of which node exposes only the first. */
function hostsNamed({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  target: Target;
  path: string;
  run: RunConnections;
  socket: Socket;
  gone: AbortSignal;
}

/**
 * Resolves when the whole answer is passed on. An exception in a listener would end the server, so each of them
 * rejects instead.
 */
function exchange({ request, response, target, path, run, socket, gone }: Exchange): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = send({
      method: request.method,
      path,
      headers: headersFor(request, target),
      setHost: false,
      createConnection: () => socket,
    });
    gone.addEventListener('abort', reject, { once: true });
    outgoing.on('error', reject);
    // Node then releases the socket and reports no further events of it.
    outgoing.once('upgrade', () => reject(new Error('an upgrade that nobody asked for')));
    let informed = 0;
    outgoing.on('information', () => {
      informed += 1;
      if (informed > MOST_INFORMATION) reject(new Error('information without end'));
    });
    outgoing.once('response', (answer) => {
      try {
        answer.on('data', (chunk: Buffer) => run.count(target, chunk.length));
        beginAnswer(response, answer);
        pipeline(answer, response, () => resolve());
      } catch (error) {
        reject(error);
      }
    });
    if (!hasBody(request)) return void outgoing.end();
    request.on('data', (chunk: Buffer) => run.count(target, chunk.length));
    pipeline(request, outgoing, (error) => error && reject(error));
  });
}

/** Passes on the status without the host's reason phrase, which may be anything. */
function beginAnswer(response: ServerResponse, answer: IncomingMessage): void {
  const status = answer.statusCode ?? 0;
  if (status < 200 || status > 599) throw new Error(`the status ${status}, which means nothing`);
  response.writeHead(status, endToEnd(answer));
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

function headersFor(request: IncomingMessage, { host, port }: Target): OutgoingHttpHeaders {
  const headers = endToEnd(request);
  headers['host'] = port === 80 ? writeHost(host) : `${writeHost(host)}:${port}`;
  // Without it node would send the body of a GET unframed, and it could be read as a second request.
  if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  return headers;
}

/** Returns the end-to-end headers. */
function endToEnd({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  const named = (headersDistinct['connection'] ?? []).flatMap((value) => value.split(','));
  const left = new Set(named.map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headersDistinct).filter(
      ([name]) => !HOP_BY_HOP.has(name) && !left.has(name) && !name.startsWith('proxy-'),
    ),
  );
}
