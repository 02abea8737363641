import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { execute, healthOf } from './calls.js';
import { type Era, newClient } from './doors.js';
import { RawHttpServer } from './raw-http-server.js';

const ENDLESS = { code: 'import time\ntime.sleep(290)', timeoutMs: 300_000 };

describe.each(['modern', 'legacy'] as const)('a %s client that asks for more than there is', (era: Era) => {
  let server: RawHttpServer;
  const clients: Client[] = [];

  beforeAll(async () => {
    server = await RawHttpServer.start({ MAX_CONCURRENT_EXECUTIONS: '3', MAX_QUEUED_EXECUTIONS: '6' });
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  });

  const connect = async (name: string): Promise<Client> => {
    const client = newClient(era, name);
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    clients.push(client);
    return client;
  };

  test('keeps no other client from running, though its runs have five minutes each and fill the queue', async () => {
    const [greedy, modest] = [await connect('greedy'), await connect('modest')];
    const abort = new AbortController();
    const { signal } = abort;
    const runs = Array.from({ length: 8 }, () =>
      greedy
        .callTool({ name: 'execute_python', arguments: ENDLESS }, { signal, timeout: 600_000 })
        .catch(() => null),
    );
    await vi.waitFor(
      async () => {
        const { queue } = await healthOf(modest);
        expect(queue).toMatchObject({ active: 2, waiting: 6 });
      },
      { timeout: 30_000 },
    );
    for (let run = 0; run < 3; run += 1) {
      const { outcome } = await execute(modest, { code: 'print("mine")' });
      expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, stdout: { text: 'mine\n' } });
    }
    abort.abort();
    await Promise.all(runs);
  });
});
