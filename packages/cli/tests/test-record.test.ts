import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, test } from 'vitest';
import { parse } from 'yaml';
import { MAIN } from '../../../tests/support/main.js';
import { type Era, newClient } from '../../server/tests/doors.js';
import { SHOP, testPlaces } from './test-place.js';

const place = testPlaces();
/** In an input of a client, it is a text like any other. */
const NO_REFERENCE = ['$', '{nobody}'].join('');

describe.concurrent('pungi test record', { timeout: 120_000 }, () => {
  const session = async (era: Era, folder: string, args: string[]) => {
    const client = newClient(era);
    const { PATH = '' } = process.env;
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [MAIN, 'test', 'record', ...args, '--', 'node', SHOP],
      env: { PATH, SECRET: 'of the client' },
      cwd: folder,
      stderr: 'pipe',
    });
    let stderr = '';
    transport.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    await client.connect(transport);
    await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
    await client.readResource({ uri: 'shop://hours' });
    await client.getPrompt({ name: 'greet', arguments: { name: NO_REFERENCE } });
    await client.callTool({ name: 'price', arguments: { cents: 'x' } }).catch(() => {});
    await client.close();
    return stderr;
  };

  for (const era of ['modern', 'legacy'] as const)
    test(`writes what a ${era} client does as tests that pass`, async ({ expect }) => {
      const here = place();
      await session(era, here.folder, ['-o', 'session.yaml']);
      const { name, tools, resources, prompts } = parse(here.read('session.yaml'));
      expect(name).toBe('shop');
      expect(tools).toMatchObject([
        { name: 'add', tests: [{ input: { a: 1, b: 2 }, expected: { fields: [{ path: '$.sum' }] } }] },
        { name: 'price', tests: [{ input: { cents: 'x' }, expected: { error: true } }] },
      ]);
      expect(resources).toMatchObject([{ uri_template: 'shop://hours' }]);
      expect(prompts[0].tests[0].input).toEqual({ name: `$${NO_REFERENCE}` });
      expect(here.read('session.yaml')).not.toContain('of the client');
      const { status, stdout } = await here.run(['session.yaml']);
      expect(stdout).toMatch(/^✓ 4 passed/m);
      expect(status).toBe(0);
    });

  test('--exact expects the very answers', async ({ expect }) => {
    const here = place();
    await session('modern', here.folder, ['--exact', '-o', 'session.yaml']);
    const { tools } = parse(here.read('session.yaml'));
    expect(tools[0].tests[0].expected).toEqual({ equals: { sum: 3 } });
    expect((await here.run(['session.yaml'])).status).toBe(0);
    here.write('session.yaml', here.read('session.yaml').replace('sum: 3', 'sum: 4'));
    expect((await here.run(['session.yaml'])).status).toBe(1);
  });

  test('a client that calls nothing leaves no file, and a server that fails is told', async ({ expect }) => {
    const here = place();
    const quiet = await here.run(['record', '--', 'node', SHOP]);
    expect(quiet).toEqual({
      status: 0,
      stdout: '',
      stderr: 'pungi: no call was made, and nothing was written\n',
    });
    const { child, ended } = here.start(['record', '--', 'node', '-e', 'process.exit(4)']);
    const { status, stderr } = await ended;
    child.stdin.end();
    expect(status).toBe(1);
    expect(stderr).toContain('pungi: the server ended with status 4\n');
  });
});
