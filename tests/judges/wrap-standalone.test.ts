import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { textsOf } from '../../packages/server/tests/calls.js';
import { type Era, newClient } from '../../packages/server/tests/doors.js';
import { temporaryFolder } from '../support/places.js';
import { until } from '../support/until.js';
import { ensureJudges, inspectorCli, judgeNode } from './ensure.js';
import { PYTHONS, SHOP_TOOLS, wrapShop } from './wrapped-folder.js';

const run = promisify(execFile);
const root = temporaryFolder();
const { PATH = '', HOME = '' } = process.env;
let wrapper: string;

beforeAll(async () => {
  await ensureJudges();
  wrapper = join(await wrapShop(root), 'wrapper.py');
}, 300_000);

const ORDERS = [{ item: 'pen', count: 3 }, { item: 'ink' }];
const ERAS: Era[] = ['modern', 'legacy'];

describe.each(PYTHONS.flatMap((python) => ERAS.map((era) => ({ ...python, era }))))(
  'the official $era client and a wrapped folder with Python $version',
  ({ path: command, era }) => {
    let client: Client;
    beforeAll(async () => {
      client = newClient(era);
      await client.connect(
        new StdioClientTransport({ command, args: [wrapper], env: { PATH, HOME }, stderr: 'ignore' }),
      );
    });
    afterAll(() => client.close());

    test('lists the tools', async () => {
      expect(client.getServerVersion()).toMatchObject({ name: 'shop' });
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual([...SHOP_TOOLS].sort());
      expect(tools.find(({ name }) => name === 'bill')).toMatchObject({
        description: expect.stringContaining('Write a bill.'),
        inputSchema: {
          type: 'object',
          required: ['orders'],
          properties: { discount: { type: 'number', default: 0, description: 'A part of one.' } },
        },
        outputSchema: { type: 'object', required: ['lines', 'total'] },
      });
    });

    test('gets structured content that fits the schema, which the client checks', async () => {
      await client.listTools();
      const result = await client.callTool({ name: 'bill', arguments: { orders: ORDERS, discount: '0.5' } });
      expect(result.isError ?? false).toBe(false);
      expect(result.structuredContent).toEqual({ lines: ['3 pen', '1 ink'], total: 5.5 });
      expect(textsOf(result)).toContain('stdout:\nadding up 2 orders\n');
      const whole = await client.callTool({ name: 'price', arguments: { item: 'ink' } });
      expect(whole.structuredContent).toEqual({ result: 5 });
    });

    test('runs the command line', async () => {
      const given = { items: ['pen', 'ink'], currency: 'USD' };
      const result = await client.callTool({ name: 'shop', arguments: given });
      expect(result.structuredContent).toMatchObject({ exitCode: 0, json: { pen: '2 USD', ink: '5 USD' } });
      const failed = await client.callTool({ name: 'shop', arguments: { items: ['--help-me'] } });
      expect(failed).toMatchObject({ isError: true, structuredContent: { exitCode: 1 } });
      expect(textsOf(failed).join('\n')).toContain("KeyError: '--help-me'");
    });

    test('hears of errors: of the script, of the arguments, of the name', async () => {
      const failed = await client.callTool({ name: 'price', arguments: { item: 'car' } });
      expect(failed.isError).toBe(true);
      expect(textsOf(failed).join('\n')).toMatch(/^KeyError: 'car'\nin line \d+: return PRICES\[item\]/);
      const wrong = await client.callTool({ name: 'bill', arguments: { orders: [{ item: 'car' }] } });
      expect(wrong.isError).toBe(true);
      expect(textsOf(wrong).join('\n')).toMatch(/orders\.0\.item: expected one of "pen", "ink"/);
      await expect(client.callTool({ name: 'sell' })).rejects.toThrow(/Unknown tool: sell|not found/i);
    });

    test('hears of every line while it is printed', async () => {
      const lines: string[] = [];
      const onprogress = ({ message = '' }) => void lines.push(message);
      const result = await client.callTool({ name: 'count_down', arguments: { start: 4 } }, { onprogress });
      expect(result.structuredContent).toEqual({ result: 'done' });
      expect(lines).toEqual(['4', '3', '2', '1']);
    });

    test.skipIf(!existsSync('/proc'))('cancels a call, which ends its process', async () => {
      const controller = new AbortController();
      let pid = '';
      const onprogress = ({ message = '' }) => {
        pid = message;
        controller.abort('enough');
      };
      const call = client.callTool({ name: 'wait_long' }, { signal: controller.signal, onprogress });
      await expect(call).rejects.toThrow();
      expect(pid).toMatch(/^\d+$/);
      await until(() => !existsSync(`/proc/${pid}`), 'the process of the call is gone');
      expect(await client.callTool({ name: 'price', arguments: { item: 'pen' } })).toMatchObject({
        structuredContent: { result: 2 },
      });
    });
  },
);

describe.each(PYTHONS)('Inspector and a wrapped folder with Python $version', ({ path: python }) => {
  const inspect = (...method: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
    const args = [inspectorCli, '--cli', ...method, '--', python, wrapper];
    // Else the Inspector keeps files in the home folder of whoever runs the tests.
    const env = { ...process.env, MCP_STORAGE_DIR: root, MCP_CATALOG_PATH: join(root, 'catalog.json') };
    return run(judgeNode, args, { timeout: 60_000, env }).then(
      (ended) => ({ code: 0, ...ended }),
      (failed: { code: number; stdout: string; stderr: string }) => failed,
    );
  };
  const call = (name: string, ...args: string[]) =>
    inspect('--method', 'tools/call', '--tool-name', name, ...args.flatMap((each) => ['--tool-arg', each]));

  test('lists the tools, and finds their schemas portable', async () => {
    const { code, stdout, stderr } = await inspect('--method', 'tools/list', '--strict');
    expect(code, stderr).toBe(0);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name).sort()).toEqual([...SHOP_TOOLS].sort());
  });

  test('calls a function, and is shown its failure', async () => {
    const { code, stdout, stderr } = await call('bill', `orders=${JSON.stringify(ORDERS)}`);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ structuredContent: { total: 11 } });
    const failed = await call('price', 'item=car');
    expect(failed.code).toBe(5);
    expect(failed.stdout + failed.stderr).toContain("KeyError: 'car'");
  });
});

test.each(PYTHONS)('a line of JSON on a pipe is answered with Python $version', async ({ path: python }) => {
  const asked = {
    jsonrpc: '2.0',
    id: 1,
    method: 'CallTool',
    params: { name: 'price', arguments: { item: 'pen' } },
  };
  const child = run(python, [wrapper], { timeout: 60_000 });
  child.child.stdin!.end(`${JSON.stringify(asked)}\n`);
  const { stdout } = await child;
  expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toMatchObject({
    id: 1,
    result: { ok: true, value: 2 },
  });
});
