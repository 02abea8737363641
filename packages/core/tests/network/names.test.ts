import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../../../tests/support/until.js';
import { findInHosts, type Lookup, lookUp } from '../../src/network/names.js';
import { Network, type NetworkDoor } from '../../src/network/network.js';
import { TIMEOUTS } from '../../src/network/proxy-server.js';
import { type Answers, lookupIn } from './names.js';
import { callAt, type Outside, serveOutside, World } from './world.js';

const PUBLIC = '93.184.216.34';
let outside: Outside;
beforeEach(async () => {
  outside = await serveOutside('http');
});
afterEach(() => outside.close());

const get = (url: string, host: string) => [`GET ${url} HTTP/1.1`, `Host: ${host}`, 'Connection: close'];

async function askAt(door: NetworkDoor, host: string): Promise<string> {
  door.admit('someone', 'run');
  const call = callAt(door, 'someone');
  call.say(get(`http://${host}/`, host));
  return call.all();
}

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
  const host = `rebind.example:${decoy.port}`;
  const world = await World.open([host, `127.0.0.2:${decoy.port}`], answers);
  for (let turn = 1; turn <= 3; turn += 1) {
    expect(await world.ask(get(`http://${host}/`, host))).toContain('hello from /');
    expect([asked, decoy.requests.length]).toEqual([1, turn]);
  }
  await world.close();
  // Another server asks anew and judges by the second answer.
  const later = await World.open([host, `127.0.0.2:${decoy.port}`], answers);
  expect(await later.ask(get(`http://${host}/`, host))).toContain(
    '403 Forbidden: rebind.example leads to 127.0.0.1',
  );
  expect([asked, decoy.requests.length]).toEqual([2, 3]);
  await later.close();
  decoy.close();
});

test('what was found for one profile is judged anew for another', async () => {
  const network = new Network(lookupIn({ 'in.example': ['127.0.0.1'] }), TIMEOUTS);
  const host = `in.example:${outside.port}`;
  const [wide, narrow] = [
    await network.open([host, `127.0.0.1:${outside.port}`], () => {}),
    await network.open([host], () => {}),
  ];
  expect(await askAt(wide, host)).toContain('hello from /');
  expect(await askAt(narrow, host)).toContain('403 Forbidden: in.example leads to 127.0.0.1');
  await Promise.all([wide.close(), narrow.close()]);
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

describe('a run whose names are not answered', () => {
  const slowly = () => {
    const state = { open: 0, most: 0, asked: [] as string[], letGo: () => {} };
    const held = new Promise<void>((resolve) => (state.letGo = resolve));
    const lookup: Lookup = async (name, signal) => {
      state.asked.push(name);
      if (!name.endsWith('slow.example')) return [{ address: '127.0.0.1', family: 4 }];
      state.open += 1;
      state.most = Math.max(state.most, state.open);
      await Promise.race([held, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
      state.open -= 1;
      return [];
    };
    return { state, lookup };
  };
  const slowHosts = Array.from({ length: 20 }, (_, index) => `h${index}.slow.example`);

  test('has two lookups at a time, and another run has its own', async () => {
    const { state, lookup } = slowly();
    const good = `good.example:${outside.port}`;
    const world = await World.open(['*.slow.example', good, `127.0.0.1:${outside.port}`], lookup);
    const asked = slowHosts.map((host) => world.ask(get(`http://${host}/`, host)));
    await until(() => state.open === 2, 'two names are looked for');
    const leave = world.door.admit('other.0', 'other');
    expect(await world.ask(get(`http://${good}/`, good), 'other.0')).toContain('hello from /');
    expect(state.most).toBe(2);
    // What was found for the other is known now, also to a run that waits.
    expect(await world.ask(get(`http://${good}/`, good))).toContain('hello from /');
    state.letGo();
    for (const answer of await Promise.all(asked)) expect(answer).toContain('could not be resolved');
    expect([state.most, state.asked.length]).toEqual([2, 21]);
    leave();
    await world.close();
  });

  test('keeps no place with what it gave up', async () => {
    const { state, lookup } = slowly();
    const world = await World.open(['*.slow.example'], lookup);
    const calls = slowHosts.map((host) => {
      const call = world.call();
      call.say(get(`http://${host}/`, host));
      return call;
    });
    await until(() => state.open === 2, 'two names are looked for');
    for (const call of calls) call.socket.destroy();
    await until(() => state.open === 0, 'they are given up');
    const last = world.ask(get('http://last.slow.example/', 'last.slow.example'));
    await until(() => state.asked.includes('last.slow.example'), 'the next one has its turn');
    state.letGo();
    await last;
    // Who hung up was refused nothing.
    expect(world.refusals).toEqual(['last.slow.example:80']);
    await world.close();
  });

  test('is answered in time, though its lookups never end', async () => {
    const never: Lookup = () => new Promise(() => {});
    const world = await World.open(['*.slow.example'], never, { lookup: 50 });
    for (const answer of await Promise.all(slowHosts.map((host) => world.ask(get(`http://${host}/`, host)))))
      expect(answer).toContain('504 Timeout');
    await world.close();
  });
});

test('the hosts file is read as the system reads it', () => {
  const file =
    '127.0.0.1 localhost\n# 1.1.1.1 a.example\n10.0.0.1\tDB.example  db. # x\n::2 db.example\nnonsense db\n';
  expect(findInHosts(file, 'db.example')).toEqual([
    { address: '10.0.0.1', family: 4 },
    { address: '::2', family: 6 },
  ]);
  expect(findInHosts(file, 'db')).toEqual([{ address: '10.0.0.1', family: 4 }]);
  for (const absent of ['a.example', '10.0.0.1', 'x', '']) expect(findInHosts(file, absent)).toEqual([]);
});

test('a name of this machine is found by the real lookup, and one of nobody is not', async () => {
  const { signal } = new AbortController();
  expect(await lookUp('localhost', signal)).toContainEqual({ address: '127.0.0.1', family: 4 });
  await expect(lookUp('nobody.invalid', signal)).rejects.toThrow();
  await expect(lookUp('nobody.invalid', AbortSignal.abort())).rejects.toThrow();
});
