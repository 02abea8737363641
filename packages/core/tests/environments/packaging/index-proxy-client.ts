import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Server } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import {
  type IndexProxy,
  type IndexProxySettings,
  startIndexProxy,
} from '../../../src/environments/packaging/index-proxy.js';

export const JSON_PAGE = 'application/vnd.pypi.simple.v1+json';

export interface Reply {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An index that answers as the test says, and remembers what it was asked. */
export async function startIndex(answer: Answer): Promise<{ url: string; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  const port = await listenForTest(server);
  return { url: `http://127.0.0.1:${port}/simple`, asked };
}

export async function listenForTest(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    (server as Partial<import('node:http').Server>).closeAllConnections?.();
  });
  return (server.address() as AddressInfo).port;
}

/** Nothing of the machine's own proxies and certificates is used unless the test says so. */
export async function startProxy(
  indexes: string[],
  env: IndexProxySettings['env'] = {},
): Promise<IndexProxy> {
  const proxy = await startIndexProxy({ indexes, env });
  onTestFinished(() => proxy.close());
  return proxy;
}

export function open(proxy: IndexProxy, path: string, method = 'GET', headers = {}): ClientRequest {
  // As the forwarder of a build connects.
  const createConnection = () => {
    const socket = connect(proxy.socket);
    socket.write('build\n');
    return socket;
  };
  return request({ createConnection, path, method, headers });
}

export async function ask(proxy: IndexProxy, path: string, method = 'GET', headers = {}): Promise<Reply> {
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    open(proxy, path, method, headers).on('response', resolve).on('error', reject).end(),
  );
  return {
    status: response.statusCode!,
    headers: response.headers,
    text: (await buffer(response)).toString('latin1'),
  };
}

export interface File {
  filename: string;
  url: string;
  [key: string]: unknown;
}

/** The files of a page, asked for as JSON. */
export async function filesOf(proxy: IndexProxy, path: string): Promise<File[]> {
  const { status, text } = await ask(proxy, path, 'GET', { accept: JSON_PAGE });
  if (status !== 200) throw new Error(`${path} was answered ${status}: ${text}`);
  return (JSON.parse(text) as { files: File[] }).files;
}

export function jsonPage(response: ServerResponse, files: object[]): void {
  response.writeHead(200, { 'content-type': JSON_PAGE });
  response.end(JSON.stringify({ meta: { 'api-version': '1.1' }, name: 'apple', versions: ['1.0'], files }));
}
