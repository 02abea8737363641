import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { findUnreachable, proxyFor } from '../../../src/environments/packaging/index-reach.js';

/** A server, or a proxy whose answer to every wish is the status. */
async function serve(status = 200): Promise<string> {
  const answer: RequestListener = (_, response) => response.writeHead(status).end();
  const server = createServer(answer);
  server.on('connect', (_, socket: Socket) => socket.end(`HTTP/1.1 ${status} So\r\n\r\n`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const NOBODY = 'http://127.0.0.1:1';

test('tells the hosts where nobody answers', async () => {
  const there = await serve(500);
  expect(await findUnreachable([`${there}/simple`, `${NOBODY}/a`, `${NOBODY}/b`], {})).toEqual([
    '127.0.0.1:1',
  ]);
  expect(await findUnreachable(['http://no-such-host.invalid/simple'], {})).toEqual(['no-such-host.invalid']);
});

test.each(['https://index.invalid/simple', 'http://index.invalid/simple'])(
  '%s is reached if the proxy gets through',
  async (address) => {
    const env = (proxy: string) => ({ HTTPS_PROXY: proxy, HTTP_PROXY: proxy });
    expect(await findUnreachable([address], env(await serve(200)))).toEqual([]);
    expect(await findUnreachable([address], env(await serve(407)))).toEqual([]);
    expect(await findUnreachable([address], env(await serve(502)))).toEqual(['index.invalid']);
    expect(await findUnreachable([address], env(NOBODY))).toEqual(['index.invalid']);
  },
);

test('proxies are those that tools of the field would use', () => {
  const proxy = (address: string, env: Record<string, string>) => proxyFor(new URL(address), env)?.href;
  expect(proxy('https://a.example/', {})).toBeUndefined();
  expect(proxy('https://a.example/', { HTTPS_PROXY: 'p:3' })).toBe('http://p:3/');
  expect(proxy('https://a.example/', { https_proxy: 'http://q', HTTPS_PROXY: 'http://p' })).toBe('http://q/');
  expect(proxy('http://a.example/', { HTTPS_PROXY: 'http://p' })).toBeUndefined();
  expect(proxy('http://a.example/', { ALL_PROXY: 'socks5://p:9' })).toBe('socks5://p:9');
  for (const list of ['a.example', '.example', 'b, example', '*']) {
    expect(proxy('http://a.example/', { HTTP_PROXY: 'http://p', NO_PROXY: list })).toBeUndefined();
  }
  expect(proxy('http://a.example/', { HTTP_PROXY: 'http://p', NO_PROXY: 'ple' })).toBe('http://p/');
});
