import { existsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { until } from '../../../../../tests/support/until.js';
import { ask, filesOf, JSON_PAGE, jsonPage, open, startIndex, startProxy } from './index-proxy-client.js';

const WHEEL = 'apple-1.0-py3-none-any.whl';
const SHA = 'ab'.repeat(32);
const MORE_THAN_A_PAGE = 33 * 1024 ** 2;

/** One wheel, with its metadata beside it, below /files. */
const startAppleIndex = () =>
  startIndex((request, response) => {
    const { range } = request.headers;
    if (request.url === '/simple/apple/')
      return jsonPage(response, [{ filename: WHEEL, url: `/files/${WHEEL}` }]);
    if (request.url === `/files/${WHEEL}.metadata`) return response.end('Name: apple\n');
    if (request.url !== `/files/${WHEEL}`) return response.writeHead(404).end();
    if (range) return response.writeHead(206, { 'content-range': 'bytes 0-3/11' }).end('whee');
    return response.writeHead(200, { 'content-length': 11, 'x-secret': 'yes' }).end('wheel bytes');
  });

test('a page keeps what is said of each file, except where it is', async () => {
  const said = {
    filename: WHEEL,
    hashes: { sha256: SHA },
    'requires-python': '>=3.8',
    yanked: 'too sour',
    'core-metadata': { sha256: SHA },
    size: 11,
    'upload-time': '2026-01-01T00:00:00Z',
  };
  const index = await startIndex((_, response) =>
    jsonPage(response, [
      { ...said, url: 'https://elsewhere.example/files/apple.whl', provenance: 'https://x' },
    ]),
  );
  const proxy = await startProxy([index.url]);
  const [file, ...others] = await filesOf(proxy, '/simple/0/apple/');
  expect(file).toEqual({
    ...said,
    url: expect.stringMatching(/^\/file\/0\/[0-9a-f]{32}\/apple-1\.0-py3-none-any\.whl$/),
  });
  expect(others).toEqual([]);
});

test('a page in HTML is understood, and given as what is asked for', async () => {
  const page = `<!DOCTYPE html><html><head><base href="/pool/"></head><body>
    <a href="a/${WHEEL}#sha256=${SHA}" data-requires-python=">=3.8" data-dist-info-metadata="true">${WHEEL}</a>
    <A HREF='apple-0.9.tar.gz#md5=abc' data-requires-python='&gt;=3.6,&lt;4' data-yanked>apple-0.9.tar.gz</A>
    <a href="mailto:nobody">no file</a></body></html>`;
  const index = await startIndex((request, response) =>
    request.url === '/simple/apple/'
      ? response.writeHead(200, { 'content-type': 'text/html' }).end(page)
      : response.end(request.url),
  );
  const proxy = await startProxy([index.url]);
  const [wheel, source, ...others] = await filesOf(proxy, '/simple/0/apple/');
  expect(wheel).toMatchObject({ filename: WHEEL, hashes: { sha256: SHA }, 'requires-python': '>=3.8' });
  expect(wheel).toMatchObject({ 'core-metadata': true });
  expect(source).toMatchObject({
    filename: 'apple-0.9.tar.gz',
    hashes: { md5: 'abc' },
    'requires-python': '>=3.6,<4',
  });
  expect(source).toMatchObject({ yanked: true });
  expect(others).toEqual([]);
  expect((await ask(proxy, wheel!.url)).text).toBe(`/pool/a/${WHEEL}`);
  expect((await ask(proxy, source!.url)).text).toBe('/pool/apple-0.9.tar.gz');

  const html = await ask(proxy, '/simple/0/apple/');
  expect(html.headers['content-type']).toContain('text/html');
  const anchor = `<a href="${wheel!.url}#sha256=${SHA}" data-requires-python="&gt;=3.8" data-core-metadata="true">${WHEEL}</a>`;
  expect(html.text).toContain(anchor);
  expect(html.text).toContain('data-requires-python="&gt;=3.6,&lt;4" data-yanked="">apple-0.9.tar.gz</a>');
  expect(html.text).not.toContain('pool');
});

test('an offered file is given whole, in part, by its head, and with its metadata', async () => {
  const index = await startAppleIndex();
  const proxy = await startProxy([index.url]);
  const [file] = await filesOf(proxy, '/simple/0/apple/');
  const whole = await ask(proxy, file!.url);
  expect(whole).toMatchObject({ status: 200, text: 'wheel bytes' });
  expect(whole.headers['x-secret']).toBeUndefined();
  const part = await ask(proxy, file!.url, 'GET', { range: 'bytes=0-3' });
  expect(part).toMatchObject({ status: 206, text: 'whee', headers: { 'content-range': 'bytes 0-3/11' } });
  const head = await ask(proxy, file!.url, 'HEAD');
  expect(head).toMatchObject({ status: 200, text: '', headers: { 'content-length': '11' } });
  expect(await ask(proxy, `${file!.url}.metadata`)).toMatchObject({ status: 200, text: 'Name: apple\n' });
});

test.each([
  ['GET', '/'],
  ['GET', '/simple/'],
  ['GET', '/simple/0/'],
  ['GET', '/simple/0/apple'],
  ['GET', '/simple/1/apple/'],
  ['GET', '/simple/-1/apple/'],
  ['GET', '/simple/0/Apple/'],
  ['GET', '/simple/0/-apple/'],
  ['GET', '/simple/0/../'],
  ['GET', '/simple/0/%2e%2e/'],
  ['GET', '/simple/0/apple%2fpie/'],
  ['GET', '/simple/0/apple/pie/'],
  ['GET', '/simple/0/apple/?x'],
  ['GET', `/simple/0/${'a'.repeat(600)}/`],
  ['GET', '//elsewhere.example/simple/0/apple/'],
  ['GET', 'http://elsewhere.example/simple/0/apple/'],
  ['GET', `/file/0/${'0'.repeat(32)}/${WHEEL}`],
  ['GET', '/file/0/__proto__/x'],
  ['POST', '/simple/0/apple/'],
  ['PUT', '/simple/0/apple/'],
  ['DELETE', '/simple/0/apple/'],
  ['OPTIONS', '*'],
])('%s %s is not answered, and the index does not hear of it', async (method, path) => {
  const index = await startAppleIndex();
  const proxy = await startProxy([index.url]);
  expect((await ask(proxy, path, method)).status).toBe(method === 'GET' ? 404 : 405);
  expect(index.asked.length).toBe(0);
});

test('no tunnel is made', async () => {
  const index = await startAppleIndex();
  const proxy = await startProxy([index.url]);
  const tunnel = open(proxy, new URL(index.url).host, 'CONNECT');
  const outcome = await new Promise((resolve) => {
    tunnel
      .on('connect', ({ statusCode }) => resolve(statusCode))
      .on('error', () => resolve('closed'))
      .end();
  });
  expect(outcome).not.toBe(200);
  expect(index.asked.length).toBe(0);
});

test('a file is had only by its own name and from its own index', async () => {
  const index = await startAppleIndex();
  const proxy = await startProxy([index.url, index.url]);
  const [file] = await filesOf(proxy, '/simple/0/apple/');
  const asked = index.asked.length;
  for (const path of [
    file!.url.replace('/file/0/', '/file/1/'),
    file!.url.replace('apple-1.0', 'apple-2.0'),
    `${file!.url}.asc`,
    `${file!.url}/..`,
    `${file!.url}?x=1`,
  ])
    expect((await ask(proxy, path)).status).toBe(404);
  expect(index.asked.length).toBe(asked);
});

test('what is no file of a project is not offered', async () => {
  const index = await startIndex((_, response) =>
    jsonPage(response, [
      { filename: 'passwd', url: 'file:///etc/passwd' },
      { filename: '../../x.whl', url: '/files/x.whl' },
      { filename: 'a b.whl', url: '/files/y.whl' },
      { filename: WHEEL, url: 'http://[' },
    ]),
  );
  const proxy = await startProxy([index.url]);
  expect(await filesOf(proxy, '/simple/0/apple/')).toEqual([]);
});

test('redirects are followed outside, and addresses are read from where they lead', async () => {
  const index = await startIndex((request, response) => {
    if (request.url === '/simple/apple/') response.writeHead(302, { location: '/mirror/apple/' }).end();
    else if (request.url === '/mirror/apple/') jsonPage(response, [{ filename: WHEEL, url: WHEEL }]);
    else if (request.url === `/mirror/apple/${WHEEL}`) response.writeHead(307, { location: '/cdn' }).end();
    else response.end(`${request.url}`);
  });
  const proxy = await startProxy([index.url]);
  const [file] = await filesOf(proxy, '/simple/0/apple/');
  expect(await ask(proxy, file!.url)).toMatchObject({ status: 200, text: '/cdn' });
});

test.each([
  ['without end', '/simple/apple/', 'The index redirects without end.'],
  ['to a file', 'file:///etc/passwd', 'The index redirects to an address that is not safe to follow.'],
])('redirects %s are not followed', async (_, location, problem) => {
  const index = await startIndex((_request, response) => response.writeHead(302, { location }).end());
  const proxy = await startProxy([index.url]);
  expect(await ask(proxy, '/simple/0/apple/')).toMatchObject({ status: 502, text: `${problem}\n` });
  expect(proxy.problems).toEqual([problem]);
});

test('the name and password of an index are told to its own host, and shown to nobody', async () => {
  const elsewhere = await startIndex((_, response) => response.end('elsewhere'));
  const there = elsewhere.url.replace('127.0.0.1', 'localhost');
  const index = await startIndex((request, response) => {
    if (request.url === '/simple/apple/')
      return jsonPage(response, [
        { filename: WHEEL, url: '/files/own' },
        { filename: 'apple-0.9.tar.gz', url: `${there}/x` },
        { filename: 'apple-0.8.tar.gz', url: '/moved' },
      ]);
    if (request.url === '/moved') return response.writeHead(302, { location: `${there}/y` }).end();
    return response.end('own');
  });
  const proxy = await startProxy([index.url.replace('//', '//reader:p%40ss@')]);
  const page = await ask(proxy, '/simple/0/apple/', 'GET', {
    accept: JSON_PAGE,
    authorization: 'Basic mine',
  });
  expect(page.text).not.toMatch(/reader|p%40ss|p@ss|127\.0\.0\.1|localhost/);
  for (const { url } of JSON.parse(page.text).files) expect((await ask(proxy, url)).status).toBe(200);
  const expected = `Basic ${Buffer.from('reader:p@ss').toString('base64')}`;
  expect(index.asked.map(({ headers }) => headers.authorization)).toEqual([expected, expected, expected]);
  expect(elsewhere.asked.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
});

test.each([404, 401, 403])('the %i of an index is passed on', async (status) => {
  const index = await startIndex((_, response) => response.writeHead(status).end());
  const proxy = await startProxy([index.url]);
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(status);
  expect(proxy.problems).toEqual(status === 404 ? [] : [`The index answered ${status}.`]);
});

test('an index that fails, or is not there, is named as the problem, without its address', async () => {
  const failing = await startIndex((_, response) => response.writeHead(503).end());
  const proxy = await startProxy([failing.url, 'http://reader:pass@127.0.0.1:1/simple/']);
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(502);
  expect((await ask(proxy, '/simple/1/apple/')).status).toBe(502);
  expect(proxy.problems).toEqual(['The index answered 503.', 'The index cannot be reached: ECONNREFUSED.']);
});

test.each([
  ['is no page', 'nonsense', {}],
  ['is another kind of JSON', '{"files": 1}', {}],
  ['is too large', 'x'.repeat(MORE_THAN_A_PAGE), {}],
  ['becomes too large', gzipSync(Buffer.alloc(MORE_THAN_A_PAGE, ' ')), { 'content-encoding': 'gzip' }],
  ['is broken', 'no gzip at all', { 'content-encoding': 'gzip' }],
])('a page that %s is refused', async (_, body, headers) => {
  const index = await startIndex((_request, response) =>
    response.writeHead(200, { 'content-type': JSON_PAGE, ...headers }).end(body),
  );
  const proxy = await startProxy([index.url]);
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(502);
});

test.each([{}, { 'content-encoding': 'gzip' }])('a page that breaks off is refused %j', async (headers) => {
  const index = await startIndex((_, response) => {
    response.writeHead(200, { 'content-type': JSON_PAGE, ...headers });
    response.write(gzipSync('{"meta":').subarray(0, 12), () => response.destroy());
  });
  const proxy = await startProxy([index.url]);
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(502);
});

test('of many pages asked for at once few are held at a time, and all are given', async () => {
  const held: ServerResponse[] = [];
  let most = 0;
  const index = await startIndex((_, response) => {
    held.push(response);
    most = Math.max(most, held.length);
  });
  const proxy = await startProxy([index.url]);
  const replies = Promise.all(Array.from({ length: 12 }, (_, n) => ask(proxy, `/simple/0/p${n}/`)));
  for (let given = 0; given < 12; given += 1) {
    await until(() => held.length > 0, 'the index is asked for a page');
    jsonPage(held.shift()!, []);
  }
  expect(new Set((await replies).map(({ status }) => status))).toEqual(new Set([200]));
  expect(most).toBeLessThanOrEqual(4);
});

test('a page may come compressed', async () => {
  const page = JSON.stringify({ meta: { 'api-version': '1.0' }, files: [{ filename: WHEEL, url: '/x' }] });
  const index = await startIndex((_, response) =>
    response.writeHead(200, { 'content-type': JSON_PAGE, 'content-encoding': 'gzip' }).end(gzipSync(page)),
  );
  const proxy = await startProxy([index.url]);
  expect((await filesOf(proxy, '/simple/0/apple/')).map(({ filename }) => filename)).toEqual([WHEEL]);
});

test.each(['file:///srv/index', '/srv/index', 'ftp://127.0.0.1/'])(
  '%s is refused as an index',
  async (index) => {
    await expect(startProxy([index])).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
  },
);

test('whoever goes away before there is an answer takes the request to the index along', async () => {
  let isGone = false;
  const index = await startIndex((_, response) => response.on('close', () => (isGone = true)));
  const proxy = await startProxy([index.url]);
  const request = open(proxy, '/simple/0/apple/').on('error', () => {});
  request.end();
  await until(() => index.asked.length > 0, 'the index is asked');
  request.destroy();
  await until(() => isGone, 'the index sees the connection closed');
  expect(proxy.problems).toEqual([]);
});

test('whoever goes away in the middle of a file takes the request to the index along', async () => {
  let isGone = false;
  const index = await startIndex((request, response) => {
    if (request.url === '/simple/apple/') return jsonPage(response, [{ filename: WHEEL, url: '/endless' }]);
    response.on('close', () => (isGone = true));
    return response.write('some bytes');
  });
  const proxy = await startProxy([index.url]);
  const [file] = await filesOf(proxy, '/simple/0/apple/');
  const request = open(proxy, file!.url);
  request.on('response', (response) => response.once('data', () => request.destroy())).on('error', () => {});
  request.end();
  await until(() => isGone, 'the index sees the connection closed');
  expect(proxy.problems).toEqual([]);
});

test('closing it ends what is open and leaves nothing', async () => {
  const index = await startIndex((_, response) => response.flushHeaders());
  const proxy = await startProxy([index.url]);
  const ended = ask(proxy, '/simple/0/apple/').catch(() => 'ended');
  await until(() => index.asked.length > 0, 'the index is asked');
  await proxy.close();
  expect(await ended).toBe('ended');
  expect(existsSync(dirname(proxy.socket))).toBe(false);
});

test.each([
  ['CONNECT', 'build\nCONNECT index.example:443 HTTP/1.1\r\nHost: index.example:443\r\n\r\n'],
  ['a caller that is not the build', 'other\nGET /simple/0/apple/ HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a request without a caller', 'GET /simple/0/apple/ HTTP/1.1\r\nHost: x\r\n\r\n'],
])('%s gets no answer, and nothing is asked', async (_, sent) => {
  const index = await startIndex((_request, response) => jsonPage(response, []));
  const proxy = await startProxy([index.url]);
  const socket = connect(proxy.socket).on('error', () => {});
  socket.write(sent);
  expect((await buffer(socket)).toString()).toBe('');
  expect(index.asked).toEqual([]);
});
