import { createServer } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { silentLogger } from '../../core/src/base/logger.js';
import { Pungi } from '../../core/src/pungi.js';
import { ClusterBackend } from '../src/front/cluster-backend.js';
import { TestCluster } from './cluster.js';
import { Nats } from './nats.js';

const SERVERS = 3;
let cluster: TestCluster;
let servers: Nats[];
let pungi: Pungi;

beforeAll(async () => {
  const ports = await Promise.all(Array.from({ length: SERVERS }, freePort));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
  servers = await Promise.all(
    routes.map((route, n) =>
      Nats.start(undefined, [
        '-n',
        `n${n}`,
        '-cluster_name',
        'three',
        '-cluster',
        route,
        '-routes',
        routes.join(','),
      ]),
    ),
  );
  cluster = new TestCluster(servers[0]!);
  const url = servers.map((server) => server.url).join(',');
  for (let n = 0; n < 2; n++) await cluster.worker(['--cluster', url]);
  const backend = await ClusterBackend.connect(
    { url, name: 'main', creds: cluster.frontCreds },
    silentLogger,
  );
  pungi = Pungi.start({ audit: false }, silentLogger, 'server', backend);
  await until(() => backend.workers.length === 2, 'the front end hears both workers');
});
afterAll(async () => {
  await pungi.close();
  await cluster.stop();
  await Promise.all(servers.map((server) => server.stop()));
});

const STORES = [
  'pungi-main-background',
  'KV_pungi-main-outcomes',
  'OBJ_pungi-main-artifacts',
  'KV_pungi-main-environments',
];

/** Resolves when all servers have all of what is stored: then one of them may fail. */
async function isWhole(): Promise<number[]> {
  const connection = await connect({ servers: servers.map(({ url }) => url) });
  const look = async (name: string) => {
    const { streams } = await jetstreamManager(connection, { checkAPI: false });
    const { config, cluster: copies } = await streams.info(name);
    const { leader, replicas = [] } = copies ?? {};
    return leader !== undefined && replicas.every(({ current }) => current) ? config.num_replicas : 0;
  };
  const found = STORES.map((name) => until(() => look(name).catch(() => 0), `${name} is whole`, 60_000));
  return Promise.all(found).finally(() => connection.close());
}

test('what front ends store has copies on all three servers', async () => {
  expect(await isWhole()).toEqual(STORES.map(() => SERVERS));
});

test('of three NATS servers each can be killed: acknowledged background runs survive', async () => {
  const caller = { client: 'somebody' };
  for (const server of servers) {
    const code = (n: number) => `import time; time.sleep(0.3); open("n.txt", "w").write("${n}"); ${n}`;
    const accepted = await Promise.all(
      Array.from({ length: 6 }, (_, n) => pungi.runInBackground({ code: code(n), retry: true }, { caller })),
    );
    await server.kill();
    for (const [n, { run }] of accepted.entries()) {
      const { outcome } = await until(
        async () => {
          const found = await pungi.getRun(run, { waitMs: 5000, caller });
          return found.outcome && found;
        },
        `run ${n} has ended`,
        60_000,
      );
      expect([outcome!.verdict.kind, outcome!.value?.json]).toEqual(['ok', n]);
    }
    await server.start();
    await isWhole();
  }
  expect(await pungi.listRuns(caller)).toHaveLength(6 * SERVERS);
}, 180_000);

test('of three NATS servers each can be killed: runs go on and are answered', async () => {
  for (const server of servers) {
    const runs = Array.from({ length: 8 }, (_, n) =>
      pungi.run({ code: `import time; time.sleep(0.3); ${n}`, retry: true }),
    );
    await server.kill();
    const outcomes = await Promise.all(runs);
    expect(outcomes.map(({ verdict, value }) => [verdict.kind, value?.json])).toEqual(
      runs.map((_, n) => ['ok', n]),
    );
    await server.start();
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((open) => server.listen(0, '127.0.0.1', open));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
