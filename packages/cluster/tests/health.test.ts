import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { type Running, start } from '../../cli/tests/pungi.js';
import { newClient } from '../../server/tests/doors.js';
import { TestCluster, type TestWorker } from './cluster.js';

let cluster: TestCluster;
let worker: TestWorker;
let server: Running;
let client: Client;
let url: string;

beforeAll(async () => {
  cluster = await TestCluster.start();
  worker = await cluster.worker(['--label', 'gpu=true'], { MAX_CONCURRENT_EXECUTIONS: '1' });
  const at = ['--cluster', cluster.nats.url, '--creds', cluster.frontCreds];
  const env = { MAX_CONCURRENT_EXECUTIONS: '4' };
  server = start(['serve', '--http', '127.0.0.1:0', ...at], { env });
  const shown = await server.shows('stderr', /serves MCP at (\S+)/);
  url = /http:\S+\/mcp/.exec(shown)![0];
  client = newClient('legacy');
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
});
afterAll(async () => {
  await client.close();
  server.child.kill('SIGTERM');
  await server.ended;
  await cluster.stop();
});

const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args });
const get = async (path: string) => (await fetch(new URL(path, url))).text();

test('health_check and /health have the workers of the cluster', async () => {
  const { structuredContent } = await call('health_check');
  const expected = { name: 'w1', state: 'ready', labels: { gpu: 'true' }, slots: 1, busy: 0, sessions: 0 };
  expect(structuredContent).toMatchObject({ cluster: { name: 'main', waiting: 0, workers: [expected] } });
  expect(JSON.parse(await get('/health'))).toMatchObject({
    status: 'healthy',
    cluster: { workers: [expected] },
  });
});

test('in a cluster, execute_python takes labels', async () => {
  const { tools } = await client.listTools();
  const { inputSchema } = tools.find(({ name }) => name === 'execute_python')!;
  expect(Object.keys(inputSchema.properties!)).toEqual(expect.arrayContaining(['labels', 'retry']));
  expect((await call('execute_python', { code: '6 * 7', labels: { gpu: 'true' } })).isError).toBeFalsy();
  const refused = await call('execute_python', { code: '1', labels: { gpu: 'false' } });
  expect(JSON.stringify(refused)).toContain('No worker has gpu=false (1 connected)');
});

test('/metrics has what an autoscaler needs', async () => {
  const stop = new AbortController();
  const blocked = client
    .callTool(
      { name: 'execute_python', arguments: { code: 'while True: pass', timeoutMs: 60_000 } },
      { signal: stop.signal },
    )
    .catch(() => {});
  await until(async () => (await get('/metrics')).includes('pungi_cluster_slots_busy 1\n'), 'it is busy');
  const waiting = [1, 2].map(() => call('execute_python', { code: '1' }));
  const text = await until(async () => {
    const now = await get('/metrics');
    return now.includes('\npungi_runs_waiting 2\n') && now;
  }, 'two runs wait');
  expect(text).toContain('# TYPE pungi_runs_waiting gauge\n');
  expect(text).toContain('\npungi_cluster_workers{state="ready"} 1\n');
  expect(text).toContain('\npungi_cluster_slots 1\n');
  expect(text).toMatch(/\npungi_runs_total\{verdict="ok"\} \d+\n/);
  stop.abort();
  await Promise.all([blocked, ...waiting]);
});

test('without a worker the server is degraded, and its waiting runs are counted', async () => {
  worker.signal('SIGKILL');
  await until(async () => JSON.parse(await get('/health')).status === 'degraded', 'the worker is missed');
  expect(JSON.parse(await get('/health')).problem).toContain('No worker of the cluster "main" takes runs');
  const waiting = call('execute_python', { code: '6 * 7' });
  await until(async () => (await get('/metrics')).includes('\npungi_runs_waiting 1\n'), 'a run waits');
  // More than the front end takes at once.
  const queued = Array.from({ length: 8 }, () => call('execute_python', { code: '1', background: true }));
  await Promise.all(queued);
  await until(
    async () => /\npungi_cluster_runs_queued [1-9]/.test(await get('/metrics')),
    'background runs wait in the queue',
  );
  await cluster.worker();
  expect(JSON.stringify(await waiting)).toContain('42');
});
