import { once } from 'node:events';
import { createServer, type RequestOptions, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, describe, test } from 'vitest';
import { parse } from 'yaml';
import { ensureJudges } from '../../../tests/judges/ensure.js';
import { freePort } from '../../harness/src/run/start-server.js';
import { type Era, newClient } from '../../server/tests/doors.js';
import { httpServer } from './test-http-server.js';
import { type Place, testPlaces } from './test-place.js';

const place = testPlaces();
const GOOD = resolve(import.meta.dirname, '../../../tests/fixtures/servers/good.mjs');
const EVERYTHING = resolve(
  import.meta.dirname,
  '../../../tests/judges/install/node_modules/@modelcontextprotocol/server-everything/dist/index.js',
);
let good: URL;
let everything: URL;

beforeAll(async () => {
  await ensureJudges();
  [good, everything] = await Promise.all([
    httpServer(GOOD),
    httpServer(EVERYTHING, { args: () => ['streamableHttp'], env: (port) => ({ PORT: String(port) }) }),
  ]);
}, 300_000);

describe.concurrent('pungi test record --url', { timeout: 120_000 }, () => {
  /** Records what clients do by the address that is told; gives what is told at the end. */
  const recording = async (here: Place, url: URL, args: string[], work: (address: URL) => Promise<void>) => {
    const { child, ended, shows } = here.start(['record', '-o', 'session.yaml', '--url', url.href, ...args]);
    const told = await shows('stderr', /connect the client to \S+ instead of/);
    await work(new URL(/connect the client to (\S+)/.exec(told)![1]!));
    child.kill('SIGINT');
    return ended;
  };
  const connected = async (era: Era, address: URL, headers: Record<string, string> = {}): Promise<Client> => {
    const client = newClient(era);
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));
    return client;
  };

  for (const era of ['modern', 'legacy'] as const)
    test(`writes what ${era} clients do as tests that pass, and no token`, async ({ expect }) => {
      const here = place();
      const { status, stderr } = await recording(here, good, [], async (address) => {
        const client = await connected(era, address, { Authorization: 'Bearer sesame', 'X-Trace': '1' });
        await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
        await client.readResource({ uri: 'note://7' });
        await client.getPrompt({ name: 'greet', arguments: { name: 'Ada' } });
        await client.callTool({ name: 'progress', arguments: { steps: 3 } });
        await client.callTool({ name: 'nowhere' }).catch(() => {});
        await client.close();
      });
      expect(status).toBe(0);
      expect(stderr).toContain('pungi: 5 calls in session.yaml\n');
      const written = here.read('session.yaml');
      expect(written).not.toContain('sesame');
      const { name, server, tools } = parse(written);
      expect(name).toBe('good');
      expect(server).toEqual({
        transport: 'http',
        url: good.href,
        headers: { authorization: ['$', '{env:AUTHORIZATION}'].join('') },
      });
      expect(tools).toMatchObject([
        { name: 'add', tests: [{ input: { a: 1, b: 2 }, expected: { fields: [{ path: '$.sum' }] } }] },
        { name: 'progress' },
        { name: 'nowhere', tests: [{ expected: { error: true } }] },
      ]);
      expect((await here.run(['validate', 'session.yaml'])).stdout).toContain('AUTHORIZATION');
      const { stdout } = await here.run(['session.yaml'], { env: { AUTHORIZATION: 'Bearer sesame' } });
      expect(stdout).toMatch(/^✓ 5 passed/m);
    });

  test('a server with sessions, streams and questions: every client has its own', async ({ expect }) => {
    const here = place();
    const { stderr } = await recording(here, everything, ['--exact'], async (address) => {
      const one = newClient('legacy');
      one.registerCapabilities({ elicitation: { form: {} }, sampling: {} });
      one.setRequestHandler('sampling/createMessage', () => ({
        role: 'assistant',
        model: 'm',
        stopReason: 'endTurn',
        content: { type: 'text', text: 'tea' },
      }));
      await one.connect(new StreamableHTTPClientTransport(address));
      const other = await connected('legacy', address);
      // The ids of both are the same, and their calls are on their way at the same time.
      await Promise.all([
        one.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } }),
        other.callTool({ name: 'echo', arguments: { message: 'hello' } }),
      ]);
      const asked = { name: 'trigger-sampling-request', arguments: { prompt: 'what?', maxTokens: 5 } };
      await one.callTool(asked);
      await Promise.all([one.close(), other.close()]);
    });
    expect(stderr).toContain('pungi: 3 calls in session.yaml\n');
    const { tools } = parse(here.read('session.yaml'));
    const named = (name: string) => tools.find((tool: { name: string }) => tool.name === name).tests[0];
    expect(named('get-sum')).toMatchObject({ input: { a: 1, b: 2 } });
    expect(named('get-sum').expected.equals[0].text).toContain('3');
    expect(named('echo').expected.equals[0].text).toBe('Echo: hello');
    expect(named('trigger-sampling-request').sampling).toMatchObject([{ content: { text: 'tea' } }]);
    const { status, stdout } = await here.run(['session.yaml']);
    expect(stdout).toMatch(/^✓ 3 passed/m);
    expect(status).toBe(0);
  });

  test('what cannot be reached is told to both sides; a name that is not ours is not served', async ({
    expect,
    onTestFinished,
  }) => {
    const nobody = new URL(`http://127.0.0.1:${await freePort()}/mcp`);
    const other = createServer((_, answer) => answer.end()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { status, stderr } = await recording(place(), nobody, [], async (address) => {
      const answer = await fetch(address, { method: 'POST', body: '{}' });
      expect(answer.status).toBe(502);
      expect(await answer.text()).toMatch(/^pungi: could not reach the server: /);
      const statusOf = (options: RequestOptions) =>
        new Promise<number | undefined>((done) => {
          request(address, options, (given) => {
            given.resume();
            done(given.statusCode);
          }).end();
        });
      expect(await statusOf({ headers: { host: 'evil.example' } })).toBe(403);
      expect(await statusOf({ headers: { origin: 'http://evil.example' } })).toBe(403);
      expect(await statusOf({ headers: { origin: 'http://localhost:6274' } })).toBe(502);
      expect(await statusOf({ path: `//127.0.0.1:${(other.address() as AddressInfo).port}/` })).toBe(502);
    });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^pungi: could not reach the server: .*ECONNREFUSED/m);
    expect(stderr).toContain('pungi: no call was made, and nothing was written\n');
  });

  test('which server is said in one way, by an address that can be one', async ({ expect }) => {
    const here = place();
    const wrong = [
      [[], /^pungi: Name a server: /],
      [['--url', 'http://127.0.0.1:1/', '--', 'node'], /^pungi: Name one server: /],
      [
        ['--url', 'localhost:3000/mcp'],
        /^pungi: --url localhost:3000\/mcp is not the address of a server: expected http:/,
      ],
      [['--url', good.href, '--port', good.port], /^pungi: Could not listen on port \d+: it is in use\.\n/],
      [['--url', good.href, '--header', 'no'], /must be of the form NAME=VALUE or "NAME: VALUE"/],
    ] as const;
    const said = wrong.map(async ([args, says]) => {
      const { status, stderr } = await here.run(['record', ...args]);
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(says) });
    });
    await Promise.all(said);
  });
});
