import { createServer } from 'node:net';
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
