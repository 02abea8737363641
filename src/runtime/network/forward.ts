import {
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { parseAuthority, type Target, writeHost } from './host-name.js';
import { reach } from './outbound.js';
import type { Policy } from './policy.js';
import { Refusal, statusLine } from './refusal.js';
import type { Visit } from './visit.js';

/** They are about one connection, and there are two of them. `expect` was answered already. */
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

/** Passes one request on, which names its host by the whole address, and the answer back. */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  policy: Policy,
  visit: Visit,
): Promise<void> {
  try {
    const { target, path } = readTarget(request);
    const socket = await reach(target, policy, visit);
    if (response.destroyed) return void socket.destroy();
    await exchange(request, response, target, path, visit, socket);
  } catch (error) {
    refuse(response, error instanceof Refusal ? error : new Refusal(502, 'The host gave no proper answer.'));
  }
}

export function refuse(response: ServerResponse, refusal: Refusal): void {
  if (response.headersSent) return void response.destroy();
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
    throw new Refusal(400, 'The request tells its length in two ways.');
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

/** Of several Host headers node shows the first only. */
function hostsNamed({ rawHeaders }: IncomingMessage): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
}

function exchange(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  path: string,
  visit: Visit,
  socket: Socket,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const hasBody =
      request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
    const headers = endToEnd(request);
    headers['host'] =
      target.port === 80 ? writeHost(target.host) : `${writeHost(target.host)}:${target.port}`;
    // Without it node would send the body of a GET unframed, to be read as a second request.
    if (request.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
    const outgoing = send({
      method: request.method,
      path,
      headers,
      setHost: false,
      createConnection: () => socket,
    });
    response.once('close', () => outgoing.destroy());
    outgoing.on('error', reject);
    outgoing.once('upgrade', () => outgoing.destroy(new Error('an upgrade that nobody asked for')));
    outgoing.once('response', (answer) => {
      answer.on('data', (chunk: Buffer) => visit.count(target, chunk.length));
      response.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer));
      pipeline(answer, response, () => {
        socket.destroy();
        resolve();
      });
    });
    if (!hasBody) return void outgoing.end();
    request.on('data', (chunk: Buffer) => visit.count(target, chunk.length));
    pipeline(request, outgoing, (error) => error && reject(error));
  });
}

/** The headers that are meant for the other end. */
function endToEnd({ headersDistinct }: IncomingMessage): OutgoingHttpHeaders {
  const named = (headersDistinct['connection'] ?? []).flatMap((value) => value.split(','));
  const left = new Set(named.map((name) => name.trim().toLowerCase()));
  return Object.fromEntries(
    Object.entries(headersDistinct).filter(
      ([name]) => !HOP_BY_HOP.has(name) && !left.has(name) && !name.startsWith('proxy-'),
    ),
  );
}
