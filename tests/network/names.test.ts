import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../support/until.js';
import type { Answers } from './names.js';
import { type Outside, serveOutside, World } from './world.js';

const PUBLIC = '93.184.216.34';
let outside: Outside;
beforeEach(async () => {
  outside = await serveOutside('http');
});
afterEach(() => outside.close());

const get = (url: string, host: string) => [`GET ${url} HTTP/1.1`, `Host: ${host}`, 'Connection: close'];

async function askWith(
  answers: Answers,
  hosts: string[],
  host: string,
): Promise<{ answer: string; world: World }> {
  const world = await World.open(hosts, answers);
  const answer = await world.ask(get(`http://${host}:${outside.port}/`, `${host}:${outside.port}`));
  await world.close();
  return { answer, world };
}

describe('a listed name leads nowhere', () => {
  const ROWS: [name: string, addresses: string[]][] = [
    ['that has a loopback address', ['127.0.0.1']],
    ['that has a private address', ['10.1.2.3']],
    ['that has the address of the metadata service', ['169.254.169.254']],
    ['that has a public and a private address', [PUBLIC, '192.168.1.1']],
    ['that has a private and a public address', ['192.168.1.1', PUBLIC]],
    ['that has a loopback address of IPv6', ['::1']],
    ['that has an IPv4 address in IPv6', ['::ffff:127.0.0.1']],
    ['that has an IPv4 address behind NAT64', ['64:ff9b::7f00:1']],
    ['that has a unique local address', ['fd00:ec2::254']],
    ['that has no proper address', ['127.0.0.1.']],
    ['that has the address of this machine', ['0.0.0.0']],
  ];

  test.each(ROWS)('%s', async (_, addresses) => {
    const { answer, world } = await askWith(
      { 'in.example': addresses },
      [`in.example:${outside.port}`],
      'in.example',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden: in\.example leads to .*, which no name may lead to/);
    expect(outside.requests).toEqual([]);
    expect(world.decisions).toMatchObject([{ host: 'in.example', allowed: false }]);
  });

  test('but for an address that is listed itself, with its port', async () => {
    const hosts = [`in.example:${outside.port}`, `127.0.0.1:${outside.port}`];
    expect((await askWith({ 'in.example': ['127.0.0.1'] }, hosts, 'in.example')).answer).toContain(
      'hello from /',
    );
    const otherPort = [`in.example:${outside.port}`, '127.0.0.1:1'];
    expect((await askWith({ 'in.example': ['127.0.0.1'] }, otherPort, 'in.example')).answer).toContain(
      '403 Forbidden',
    );
  });

  test('that nobody knows', async () => {
    const { answer, world } = await askWith({}, [`gone.example:${outside.port}`], 'gone.example');
    expect(answer).toMatch(/502 Bad Gateway: The name gone\.example could not be resolved/);
    expect(world.decisions).toMatchObject([
      { allowed: false, reason: 'The name gone.example could not be resolved.' },
    ]);
  });

  test('that is not answered in time', async () => {
    const never = () => new Promise<never>(() => {});
    const world = await World.open(['slow.example'], never, { lookup: 50 });
    expect(await world.ask(get('http://slow.example/', 'slow.example'))).toContain(
      '504 Timeout: The name slow.example',
    );
    await world.close();
  });
});

test('a name is asked for once: an answer that changes after it was checked changes nothing', async () => {
  let asked = 0;
  const answers = {
    'rebind.example': () => {
      asked += 1;
      return asked % 2 === 1 ? ['127.0.0.2'] : ['127.0.0.1'];
    },
  };
  const decoy = await serveOutside('http', undefined, '127.0.0.2');
  const world = await World.open([`rebind.example:${decoy.port}`, `127.0.0.2:${decoy.port}`], answers);
  const host = `rebind.example:${decoy.port}`;
  expect(await world.ask(get(`http://${host}/`, host))).toContain('hello from /');
  expect([asked, decoy.requests.length]).toEqual([1, 1]);
  // The second request is judged by the second answer.
  expect(await world.ask(get(`http://${host}/`, host))).toContain(
    '403 Forbidden: rebind.example leads to 127.0.0.1',
  );
  expect([asked, decoy.requests.length]).toEqual([2, 1]);
  await world.close();
  decoy.close();
});

test('of several addresses the next one is tried where one does not answer', async () => {
  const { port } = outside;
  const hosts = [`two.example:${port}`, `127.0.0.1:${port}`, `127.0.0.3:${port}`];
  expect(
    (await askWith({ 'two.example': ['127.0.0.3', '127.0.0.1'] }, hosts, 'two.example')).answer,
  ).toContain('hello from /');
});

test('a name that is not listed is never asked for', async () => {
  const asked: string[] = [];
  const world = await World.open(['*.listed.example'], async (name) => {
    asked.push(name);
    return [];
  });
  await world.ask(get('http://secret-data.evil.example/', 'secret-data.evil.example'));
  await world.ask(['CONNECT secret-data.evil.example:443 HTTP/1.1', 'Host: secret-data.evil.example:443']);
  await world.ask(get('http://a.listed.example/', 'a.listed.example'));
  expect(asked).toEqual(['a.listed.example']);
  await world.close();
});

test('two names are looked for at a time, so that the others of the server find a thread', async () => {
  let now = 0;
  let letGo = () => {};
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const world = await World.open(['*.listed.example'], async () => {
    now += 1;
    await held;
    return [];
  });
  const hosts = Array.from({ length: 20 }, (_, index) => `h${index}.listed.example`);
  const asked = hosts.map((host) => world.ask(get(`http://${host}/`, host)));
  await until(() => now >= 2, 'two names are looked for');
  expect(await world.ask(get('http://evil.example/', 'evil.example'))).toContain('403 Forbidden');
  expect(now).toBe(2);
  letGo();
  for (const answer of await Promise.all(asked)) expect(answer).toContain('could not be resolved');
  expect(now).toBe(20);
  await world.close();
});
