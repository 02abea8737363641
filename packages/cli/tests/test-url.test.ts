import { resolve } from 'node:path';
import { beforeAll, describe, test } from 'vitest';
import { parse } from 'yaml';
import { httpServer } from './test-http-server.js';
import { testPlaces } from './test-place.js';

const place = testPlaces();
const fixture = (name: string) => resolve(import.meta.dirname, '../../../tests/fixtures/servers', name);
const odd = async (way: string) =>
  (await httpServer(fixture('odd-http.mjs'), { args: (port) => [String(port), way] })).href;
let url: string;
let [refusing, failing]: string[] = [];

beforeAll(async () => {
  url = (await httpServer(fixture('good.mjs'))).href;
  [refusing, failing] = await Promise.all([odd('status 400'), odd('status 500')]);
}, 60_000);

describe.concurrent('a server that answers over HTTP already', { timeout: 120_000 }, () => {
  test('init writes a specification that names its address, and that passes', async ({ expect }) => {
    const here = place();
    const { status, stdout } = await here.run(['init', '--url', url, '--header', 'X-Who: tests']);
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringContaining('of good\n') });
    const { server } = parse(here.read('server.test.yaml'));
    expect(server).toEqual({ transport: 'http', url, headers: { 'X-Who': 'tests' } });
    expect((await here.run(['server.test.yaml'])).status).toBe(0);
  });

  test('fuzz, lint and bench ask it', async ({ expect }) => {
    const [fuzzed, linted, measured] = await Promise.all([
      place().run(['fuzz', '--url', url, '--tool', 'add', '-n', '20']),
      place().run(['lint', '--url', url, '--json']),
      place().run(['bench', '--url', url, '--tool', 'add', '-d', '50', '--protocol', 'legacy', '--json']),
    ]);
    expect(fuzzed).toMatchObject({ status: 0, stdout: expect.stringMatching(/^✓ add: 20 calls/) });
    expect(linted.status).toBe(0);
    expect(JSON.parse(linted.stdout)).toMatchObject({
      server: { name: 'good', protocol: '2026-07-28' },
      counts: { errors: 0 },
    });
    expect(JSON.parse(measured.stdout)).toMatchObject({
      server: { protocol: '2025-11-25' },
      tools: [{ tool: 'add', errors: 0, memoryMb: null }],
    });
  });

  test('a status that refuses an input is an answer, one that tells of a failure is a find', async ({
    expect,
  }) => {
    const fuzz = (address = '') => place().run(['fuzz', '--url', address, '-n', '5']);
    const [refused, failed] = await Promise.all([fuzz(refusing), fuzz(failing)]);
    expect(refused).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('✓ work: 5 calls, 5 refused\n'),
    });
    expect(failed).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('HTTP status 500: the disk is full'),
    });
  });

  test('what is misspelt is told before anything is asked', async ({ expect }) => {
    const wrong = [
      [
        ['lint', '--url', url, '--ignore', 'anotations'],
        'pungi: --ignore: there is no rule anotations; did you mean annotations?\n',
      ],
      [
        ['init', '--url', 'localhost:3000/mcp'],
        'pungi: --url localhost:3000/mcp is not the address of a server: expected http://HOST:PORT/PATH, such as http://127.0.0.1:3000/mcp.\n',
      ],
    ] as const;
    await Promise.all(
      wrong.map(async ([args, stderr]) =>
        expect(await place().run([...args])).toEqual({ status: 2, stdout: '', stderr }),
      ),
    );
  });
});
