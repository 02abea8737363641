import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { py } from '../../../../tests/support/python.js';
import { until } from '../../../../tests/support/until.js';
import { DEFAULT_LIMITS } from '../../src/contract/limits.js';
import { Network } from '../../src/network/network.js';
import type { NetworkDecision } from '../../src/network/run-connections.js';
import { poolSpecOf, runIn, sharedEngine } from '../engine/engine.js';
import { expectOk, verdictOf } from '../engine/outcomes.js';
import { makeCertificate } from './certificate.js';
import { lookupIn } from './names.js';
import { type Outside, serveOutside } from './world.js';

const NAME = 'api.example.com';
const decisions: NetworkDecision[] = [];
const network = new Network(lookupIn({ [NAME]: ['127.0.0.1'], 'in.example': ['10.0.0.1'] }));
const engine = sharedEngine({
  tier: 'namespace',
  network: (hosts) => network.open(hosts, (decision) => decisions.push(decision)),
});

let plain: Outside;
let secure: Outside;
let allowedHosts: string[];

beforeAll(async () => {
  plain = await serveOutside('http');
  secure = await serveOutside('https');
  // The name is listed, and so is the very address that it leads to.
  allowedHosts = [plain.port, secure.port].flatMap((port) => [`${NAME}:${port}`, `127.0.0.1:${port}`]);
  allowedHosts.push('in.example');
});

afterAll(() => {
  plain.close();
  secure.close();
});

const run = (code: string, more: object = {}) =>
  runIn(engine, code, {
    poolSpec: poolSpecOf({ allowedHosts }),
    variables: {
      http: `http://${NAME}:${plain.port}`,
      https: `https://${NAME}:${secure.port}`,
      port: secure.port,
    },
    files: [{ path: 'ca.pem', base64: Buffer.from(makeCertificate().cert).toString('base64') }],
    ...more,
  });

async function printedBy(code: string, more?: object): Promise<string> {
  const outcome = await run(code, more);
  expectOk(outcome);
  return outcome.stdout.text;
}

describe('urllib, with nothing set', () => {
  test('reaches a listed host by http', async () => {
    const code = py`
      from urllib.request import urlopen
      print(urlopen(http + "/a", timeout=10).read().decode())
    `;
    expect(await printedBy(code)).toBe('hello from /a\n');
    expect(plain.requests.at(-1)).toContain(`GET /a ${NAME}:${plain.port}`);
  });

  test('reaches a listed host by https, and checks its certificate', async () => {
    const code = py`
      import ssl
      from urllib.request import urlopen
      from urllib.error import URLError
      print(urlopen(https + "/b", timeout=10, context=ssl.create_default_context(cafile="ca.pem")).read().decode())
      try:
          urlopen(https + "/b", timeout=10)
      except URLError as error:
          print("CERTIFICATE_VERIFY_FAILED" in str(error))
    `;
    expect(await printedBy(code)).toBe('hello from /b\nTrue\n');
  });

  test('trusts whom the machine trusts', async () => {
    const count = 'import ssl; print(len(ssl.create_default_context().get_ca_certs()))';
    const { interpreter } = await engine.started;
    const outside = execFileSync(interpreter.path, ['-I', '-c', count], { env: {}, encoding: 'utf8' });
    expect(await printedBy(count)).toBe(outside);
  });

  test('posts', async () => {
    const code = py`
      from urllib.request import urlopen
      urlopen(http + "/p", data=b"x" * 200000, timeout=10).read()
    `;
    await printedBy(code);
    expect(plain.requests.at(-1)).toBe(`POST /p ${NAME}:${plain.port} ${'x'.repeat(200_000)}`);
  });

  test('is told in its exception why a host is refused, and it is recorded for the run', async () => {
    const code = py`
      from urllib.request import urlopen
      from urllib.error import HTTPError, URLError
      try:
          urlopen("http://evil.example/", timeout=10)
      except HTTPError as error:
          print(error.code, error.read().decode().strip())
      try:
          urlopen("https://evil.example/", timeout=10)
      except URLError as error:
          print(error)
      try:
          urlopen("http://in.example/", timeout=10)
      except HTTPError as error:
          print(error)
    `;
    const outcome = await run(code);
    expectOk(outcome);
    const [first, second, third] = outcome.stdout.text.split('\n');
    expect(first).toMatch(
      /^403 The profile does not allow evil\.example:80; its network\.allow lists api\.example\.com/,
    );
    expect(second).toContain(
      'Tunnel connection failed: 403 Forbidden: The profile does not allow evil.example:443',
    );
    expect(third).toContain('in.example leads to 10.0.0.1, a private address');
    const recorded = decisions.filter((decision) => decision.run === outcome.runId);
    expect(recorded.map(({ host, port, allowed }) => [host, port, allowed])).toEqual([
      ['evil.example', 80, false],
      ['evil.example', 443, false],
      ['in.example', 80, false],
    ]);
  });
});

test('a connection that a run leaves open is not there for the next one', async () => {
  const leave = py`
    import os, socket, time
    client = socket.create_connection(("127.0.0.1", 3128))
    client.sendall(b"CONNECT ")
    if os.fork() == 0:
        time.sleep(60)
  `;
  await printedBy(leave);
  const look = py`
    import os
    tables = [line for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}").read().splitlines()[1:]]
    print([line.split()[3] for line in tables if line.split()[3] not in ("0A", "06")])
  `;
  expect(await printedBy(look)).toBe('[]\n');
});

test('runs one after the other, and beside each other, each under its own name', async () => {
  const code = py`
    from urllib.request import urlopen
    urlopen(http + "/" + who, timeout=10).read()
  `;
  const asked = Array.from({ length: 12 }, (_, index) =>
    run(code, { variables: { http: `http://${NAME}:${plain.port}`, who: `w${index}` } }),
  );
  const outcomes = await Promise.all(asked);
  for (const outcome of outcomes) {
    expectOk(outcome);
    expect(decisions.filter((decision) => decision.run === outcome.runId)).toHaveLength(1);
  }
});

test('a run in a loop of requests is ended by its time, and its connections with it', async () => {
  const hanging = await serveOutside('http', () => {});
  const code = py`
    from urllib.request import urlopen
    urlopen(f"http://127.0.0.1:{port}/", timeout=60).read()
  `;
  const outcome = await runIn(engine, code, {
    poolSpec: poolSpecOf({ allowedHosts: [`127.0.0.1:${hanging.port}`] }),
    variables: { port: hanging.port },
    limits: { ...DEFAULT_LIMITS, timeoutMs: 1500 },
  });
  verdictOf(outcome, 'timed-out');
  await until(() => hanging.connections() === 0, 'the host is left alone');
  hanging.close();
});

test('a run without hosts has no proxy, in its environment or on its loopback', async () => {
  const code = py`
    import os, socket
    print([name for name in os.environ if "proxy" in name.lower()], os.listdir("/sys/class/net") if os.path.exists("/sys") else "")
    try:
        socket.create_connection(("127.0.0.1", 3128), timeout=5)
    except OSError as error:
        print(type(error).__name__)
  `;
  const outcome = await runIn(engine, code);
  expectOk(outcome);
  expect(outcome.stdout.text).toBe('[] \nConnectionRefusedError\n');
});
