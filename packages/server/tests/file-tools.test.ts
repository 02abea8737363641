import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { call, execute } from './calls.js';
import { behindEveryDoor } from './doors.js';

behindEveryDoor({ ARTIFACT_DIR: temporaryFolder() }, (door) => {
  test('a file that a run leaves is named in the reply, and read by the tool and as a resource', async () => {
    const { client } = door();
    const result = await client.callTool({
      name: 'execute_python',
      arguments: { code: 'open("out put.csv", "w").write("a,b\\n1,2\\n")\nNone' },
    });
    const blocks = result.content as { type: string; text?: string; uri?: string }[];
    const [, run] = /read_file with run (\S+): out put\.csv \(8 bytes\)/.exec(
      blocks.map(({ text }) => text).join('\n'),
    )!;
    const { text } = await call(client, 'read_file', { run, path: 'out put.csv' });
    expect(text).toBe('a,b\n1,2\n');
    const { uri } = blocks.find(({ type }) => type === 'resource_link')!;
    const { contents } = await client.readResource({ uri: uri! });
    expect(contents).toMatchObject([{ uri, mimeType: 'text/csv', text: 'a,b\n1,2\n' }]);
    await expect(client.readResource({ uri: `${uri}x` })).rejects.toThrow(/not found/i);
    const missing = await call(client, 'read_file', { run, path: '../index.json' });
    expect(missing).toMatchObject({ isError: true, text: expect.stringContaining('it left "out put.csv"') });
  });

  test('a long file is read in parts, between characters; bytes come as base64', async () => {
    const { client } = door();
    const code =
      'open("long.txt", "w").write("é" * 9000)\nopen("raw.bin", "wb").write(bytes([0, 255, 1]))\nNone';
    const { outcome } = await execute(client, { code });
    const run = outcome.runId;
    let read = '';
    let at: number | undefined = 0;
    while (at !== undefined) {
      // What a client shows, not what programs find beside it.
      const args = { run, path: 'long.txt', offset: at };
      const { structuredContent } = await client.callTool({ name: 'read_file', arguments: args });
      const part = structuredContent as { text: string; nextOffset?: number };
      read += part.text;
      at = part.nextOffset;
    }
    expect(read).toBe('é'.repeat(9000));
    expect((await call(client, 'read_file', { run, path: 'raw.bin' })).data).toMatchObject({
      base64: 'AP8B',
    });
  });

  test('the newest file of a session is read by its handle', async () => {
    const { client } = door();
    const first = await execute(client, { code: 'open("a.txt", "w").write("1")\nNone', session: 'new' });
    const session = first.outcome.session!.id;
    await execute(client, { code: 'open("a.txt", "w").write("22")\nNone', session });
    expect((await call(client, 'read_file', { session, path: 'a.txt' })).text).toBe('22');
    const both = await call(client, 'read_file', { session, run: first.outcome.runId, path: 'a.txt' });
    expect(both).toMatchObject({
      isError: true,
      text: expect.stringContaining('give either run or session'),
    });
  });
});
