import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test, vi } from 'vitest';
import { execute } from './calls.js';
import { type Era, newClient } from './doors.js';
import { sharedHttpDoor } from './http-door.js';

const shared = sharedHttpDoor();

interface Seen {
  client: string | undefined;
  connection: string | undefined;
}

/** Who the engine saw for these calls. */
async function seenFor(era: Era, name: string): Promise<Seen[]> {
  const run = vi.spyOn(shared.pungi, 'run');
  const client = newClient(era, name);
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await Promise.all([execute(client, { code: '1' }), execute(client, { code: '2' })]);
  await client.close();
  const seen = run.mock.calls.map(([, options]) => ({
    client: options?.caller?.client,
    connection: options?.caller?.connection,
  }));
  run.mockRestore();
  return seen;
}

test('calls of one legacy session share a place in the queue, and sessions do not', async () => {
  const [first, second] = await seenFor('legacy', 'same');
  expect(first).toEqual({ client: 'same 1.0.0', connection: expect.stringMatching(/^(?!same)./) });
  expect(second).toEqual(first);
  const [other] = await seenFor('legacy', 'same');
  expect(other?.client).toBe(first?.client);
  expect(other?.connection).not.toBe(first?.connection);
});

test('a modern client is known by the name that it gives with each call', async () => {
  const one = { client: 'one 1.0.0', connection: 'one 1.0.0' };
  expect(await seenFor('modern', 'one')).toEqual([one, one]);
  const long = { client: 'x'.repeat(200), connection: 'x'.repeat(200) };
  expect(await seenFor('modern', 'x'.repeat(500))).toEqual([long, long]);
});

test('the caller of a change of environments is known', async () => {
  const create = vi.spyOn(shared.pungi.environments, 'create');
  const client = newClient('modern', 'builder');
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await client.callTool({ name: 'create_venv', arguments: { venvName: '-not-a-name' } });
  await client.close();
  expect(create.mock.calls.map(([, options]) => options?.caller?.client)).toEqual(['builder 1.0.0']);
  create.mockRestore();
});
