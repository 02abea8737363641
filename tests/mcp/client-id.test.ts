import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test, vi } from 'vitest';
import { execute } from './calls.js';
import { type Era, newClient } from './doors.js';
import { sharedHttpDoor } from './http-door.js';

const shared = sharedHttpDoor();

interface Seen {
  client: string | undefined;
  session: string | undefined;
}

/** Who the engine saw for these calls. */
async function seenFor(era: Era, name: string): Promise<Seen[]> {
  const run = vi.spyOn(shared.pungi, 'run');
  const client = newClient(era, name);
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await Promise.all([execute(client, { code: '1' }), execute(client, { code: '2' })]);
  await client.close();
  const seen = run.mock.calls.map(([{ client, session }]) => ({ client, session }));
  run.mockRestore();
  return seen;
}

test('calls of one legacy session share a place in the queue, and sessions do not', async () => {
  const [first, second] = await seenFor('legacy', 'same');
  expect(first).toEqual({ client: 'same 1.0.0', session: expect.stringMatching(/./) });
  expect(second).toEqual(first);
  const [other] = await seenFor('legacy', 'same');
  expect(other?.client).toBe(first?.client);
  expect(other?.session).not.toBe(first?.session);
});

test('a modern client is known by the name that it gives with each call', async () => {
  const one = { client: 'one 1.0.0', session: undefined };
  expect(await seenFor('modern', 'one')).toEqual([one, one]);
  const long = { client: 'x'.repeat(200), session: undefined };
  expect(await seenFor('modern', 'x'.repeat(500))).toEqual([long, long]);
});

test('what changes environments is told who asks', async () => {
  const create = vi.spyOn(shared.pungi.environments, 'create');
  const client = newClient('modern', 'builder');
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await client.callTool({ name: 'create_venv', arguments: { venvName: '-not-a-name' } });
  await client.close();
  expect(create.mock.calls.map(([, options]) => options?.client)).toEqual(['builder 1.0.0']);
  create.mockRestore();
});
