import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ask, jsonPage, listenForTest, startIndex, startProxy } from './index-proxy-client.js';

const AUTHORIZATION = `Basic ${Buffer.from('me:secret').toString('base64')}`;

/** A proxy as companies have them: plain HTTP by whole addresses, the rest through tunnels. */
async function startCompanyProxy() {
  const asked: string[] = [];
  const note = ({ method, url, headers }: IncomingMessage) =>
    asked.push(`${method} ${url} ${headers['proxy-authorization'] ?? ''}`.trim());
  const server = createServer((request, response) => {
    note(request);
    jsonPage(response, []);
  });
  server.on('connect', (request, socket) => {
    note(request);
    const [host, port] = request.url!.split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(socket).pipe(target);
    });
    for (const end of [socket, target])
      end.on('error', () => {}).on('close', () => [socket, target].map((each) => each.destroy()));
  });
  return { host: `127.0.0.1:${await listenForTest(server)}`, asked };
}

test('a proxy is asked for plain addresses', async () => {
  const company = await startCompanyProxy();
  const proxy = await startProxy(['http://index.example/simple'], {
    HTTP_PROXY: `http://me:secret@${company.host}`,
  });
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(200);
  expect(company.asked).toEqual([`GET http://index.example/simple/apple/ ${AUTHORIZATION}`]);
});

test.each(['127.0.0.1', 'x.example, 127.0.0.1', '*'])('NO_PROXY=%s goes past it', async (exempt) => {
  const company = await startCompanyProxy();
  const index = await startIndex((_, response) => jsonPage(response, []));
  const proxy = await startProxy([index.url], { http_proxy: `http://${company.host}`, no_proxy: exempt });
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(200);
  expect([company.asked.length, index.asked.length]).toEqual([0, 1]);
});

test.each(['7.0.0.1', '127.0.0.1:1', ''])('NO_PROXY=%s does not', async (exempt) => {
  const company = await startCompanyProxy();
  const index = await startIndex((_, response) => jsonPage(response, []));
  const proxy = await startProxy([index.url], { all_proxy: `http://${company.host}`, NO_PROXY: exempt });
  expect((await ask(proxy, '/simple/0/apple/')).status).toBe(200);
  expect([company.asked.length, index.asked.length]).toEqual([1, 0]);
});

test('a proxy of a kind that is not spoken is refused', async () => {
  const env = { ALL_PROXY: 'socks5://127.0.0.1:1' };
  await expect(startProxy(['http://index.example/simple'], env)).rejects.toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: expect.stringContaining('http://HOST:PORT'),
  });
});

test('a certificate file that cannot be read is said', async () => {
  await expect(
    startProxy(['https://index.example/'], { SSL_CERT_FILE: '/nowhere/ca.pem' }),
  ).rejects.toMatchObject({
    code: 'CONFIGURATION_ERROR',
    message: 'SSL_CERT_FILE names a file that cannot be read.',
  });
});

describe.skipIf(!canMakeCertificates())('an index that is spoken to in secret', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pungi-certificate-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const certificate = join(folder, 'certificate.pem');

  async function startSecureIndex() {
    const key = join(folder, 'key.pem');
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
    execFileSync('openssl', ['req', ...kind, ...subject, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    const options = { key: readFileSync(key), cert: readFileSync(certificate) };
    const server = createSecureServer(options, (_, response) => jsonPage(response, []));
    return `https://localhost:${await listenForTest(server)}/simple/`;
  }

  test.each(['SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'])('is trusted by %s', async (name) => {
    const proxy = await startProxy([await startSecureIndex()], { [name]: certificate });
    expect((await ask(proxy, '/simple/0/apple/')).status).toBe(200);
  });

  test('is not trusted otherwise', async () => {
    const proxy = await startProxy([await startSecureIndex()]);
    expect((await ask(proxy, '/simple/0/apple/')).status).toBe(502);
    expect(proxy.problems).toEqual(['The index cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT.']);
  });

  test('is reached through a tunnel of the proxy, which is kept', async () => {
    const company = await startCompanyProxy();
    const index = await startSecureIndex();
    const env = { https_proxy: `http://me:secret@${company.host}`, SSL_CERT_FILE: certificate };
    const proxy = await startProxy([index], env);
    for (let turn = 0; turn < 2; turn += 1) expect((await ask(proxy, '/simple/0/apple/')).status).toBe(200);
    expect(company.asked).toEqual([`CONNECT ${new URL(index).host} ${AUTHORIZATION}`]);
  });

  test('is not trusted through a tunnel either', async () => {
    const company = await startCompanyProxy();
    const proxy = await startProxy([await startSecureIndex()], { https_proxy: `http://${company.host}` });
    expect((await ask(proxy, '/simple/0/apple/')).status).toBe(502);
    expect(proxy.problems).toEqual(['The index cannot be reached: DEPTH_ZERO_SELF_SIGNED_CERT.']);
  });
});

function canMakeCertificates(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
