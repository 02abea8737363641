import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pungi } from '../../packages/cli/tests/pungi.js';
import { MAIN } from '../support/main.js';
import { ownFolders } from '../support/own-folders.js';
import { until } from '../support/until.js';

/** The stories of examples/wrap, told by a real client. */

const EXAMPLES = resolve(import.meta.dirname, '../../examples/wrap');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-examples-'));
  cpSync(EXAMPLES, folder, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = () => {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME, ...ownFolders(), AUDIT: 'false', TOOLS_DIR: join(folder, 'tools') };
};

async function withClient<T>(
  command: { command: string; args: string[] },
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ ...command, env: environment(), cwd: folder }));
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const server = () => ({ command: process.execPath, args: [MAIN, 'serve'] });

/** The folder is looked at behind the server's first answers. */
const offers = (client: Client, tool: string) =>
  until(async () => (await client.listTools()).tools.some(({ name }) => name === tool), `${tool} is offered`);

async function wrap(...words: string[]): Promise<void> {
  const ended = await pungi(['wrap', ...words.map((word) => word.replace('FOLDER', folder))], {
    env: environment(),
  });
  expect(ended.status, ended.stderr).toBe(0);
}

const SALES = [
  { day: '2026-11-02', product: 'tea', amount: 3.5 },
  { day: '2026-11-02', product: 'cake', amount: 4 },
  { day: '2026-11-03', product: 'tea', amount: 2 },
];

describe('a report that a colleague wrote', () => {
  test('its functions are tools of the server, and what it prints stays apart from what it returns', async () => {
    await wrap('FOLDER/report/sales.py');
    await withClient(server(), async (client) => {
      await offers(client, 'totals');
      const totals = await client.callTool({ name: 'totals', arguments: { sales: SALES } });
      expect(totals.structuredContent).toEqual({ tea: 5.5, cake: 4 });
      // A model that sends a list as text is understood.
      const best = await client.callTool({ name: 'best_day', arguments: { sales: JSON.stringify(SALES) } });
      expect(best.structuredContent).toEqual({ result: '2026-11-02' });
      const wrong = await client.callTool({ name: 'average', arguments: { amounts: ['much'] } });
      expect(wrong.isError).toBe(true);
      expect(JSON.stringify(wrong.content)).toContain('amounts.0: expected a number');
    });
  });
});

describe('a command-line tool, for a colleague without Pungi', () => {
  test('answers from its folder with nothing but Python', async () => {
    await wrap('FOLDER/logs/count_levels.py', '-o', 'FOLDER/levels-mcp');
    const alone = { command: 'python3', args: [join(folder, 'levels-mcp/wrapper.py')] };
    await withClient(alone, async (client) => {
      const stdin = '9:00 INFO a\n9:01 ERROR b\n9:02 INFO c\n';
      const counted = await client.callTool({ name: 'count_levels', arguments: { json: true, stdin } });
      expect(counted.structuredContent).toMatchObject({ exitCode: 0, json: { ERROR: 1, INFO: 2 } });
      const none = await client.callTool({ name: 'count_levels', arguments: { at_least: 9, stdin } });
      expect(none).toMatchObject({ isError: true, structuredContent: { exitCode: 1 } });
    });
  });
});

describe('tools with other names', () => {
  test('what a person wrote into tools.json is what clients see', async () => {
    mkdirSync(join(folder, 'tools'), { recursive: true });
    await wrap('FOLDER/inventory/stock.py', '--functions', 'find,reserve');
    const path = join(folder, 'tools/stock.tools.json');
    const file = JSON.parse(readFileSync(path, 'utf8')) as { tools: { name: string; description: string }[] };
    file.tools[0]!.name = 'find_in_store';
    file.tools[0]!.description = 'Looks for items.';
    writeFileSync(path, JSON.stringify(file));
    await withClient(server(), async (client) => {
      await offers(client, 'find_in_store');
      const { tools } = await client.listTools();
      expect(tools.find(({ name }) => name === 'find_in_store')?.description).toContain('Looks for items.');
      expect(tools.map(({ name }) => name)).not.toContain('forget_everything');
      const found = await client.callTool({ name: 'find_in_store', arguments: { unit: 'kg' } });
      expect(found.structuredContent).toEqual({ result: [{ name: 'apples', count: 12.5, unit: 'kg' }] });
      const missing = await client.callTool({ name: 'reserve', arguments: { name: 'pears', count: 1 } });
      expect(JSON.stringify(missing.content)).toContain('There are no pears in the store.');
    });
  });
});
