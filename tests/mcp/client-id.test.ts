import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test, vi } from 'vitest';
import { execute } from './calls.js';
import { type Era, newClient } from './doors.js';
import { sharedHttpDoor } from './http-door.js';

const shared = sharedHttpDoor();

/** The clients that the engine saw for these calls. */
async function clientsSeen(era: Era, name: string): Promise<(string | undefined)[]> {
  const run = vi.spyOn(shared.pungi, 'run');
  const client = newClient(era, name);
  await client.connect(new StreamableHTTPClientTransport(new URL(shared.door.url)));
  await Promise.all([execute(client, { code: '1' }), execute(client, { code: '2' })]);
  await client.close();
  const seen = run.mock.calls.map(([request]) => request.client);
  run.mockRestore();
  return seen;
}

test('calls of one legacy session share a place in the queue, and sessions do not', async () => {
  const [first, second] = await clientsSeen('legacy', 'same');
  expect(first).toBe(second);
  expect(first).not.toBe((await clientsSeen('legacy', 'same'))[0]);
});

test('a modern client is known by the name that it gives with each call', async () => {
  expect(await clientsSeen('modern', 'one')).toEqual(['one 1.0.0', 'one 1.0.0']);
  expect(await clientsSeen('modern', 'x'.repeat(500))).toEqual(['x'.repeat(200), 'x'.repeat(200)]);
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
