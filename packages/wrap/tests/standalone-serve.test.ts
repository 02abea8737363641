import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findInterpreters } from '../../../scripts/interpreters.mjs';
import { py } from '../../../tests/support/python.js';
import { temporaryFolder, withPungi } from '../../core/tests/engine/pungi.js';
import { discoverScript } from '../src/discover/discover-script.js';
import { folderFiles } from '../src/standalone/folder.js';
import { placeFor, writeFolder } from '../src/standalone/write-folder.js';
import { makeToolsFile } from '../src/tools-file/make-tools-file.js';

const SCRIPT = py`
  """Orders of a shop."""
  import argparse
  from dataclasses import dataclass

  from prices import PRICES

  @dataclass
  class Order:
      item: str
      count: int = 1

  def cost(orders: list[Order]) -> float:
      """What orders cost."""
      print("adding up", len(orders))
      return float(sum(PRICES[order.item] * order.count for order in orders))

  if __name__ == "__main__":
      parser = argparse.ArgumentParser(description="Tells a price.")
      parser.add_argument("item")
      print(PRICES[parser.parse_args().item])
`;

const root = temporaryFolder();
const folder = join(root, 'shop-mcp');

/** Made as "pungi wrap shop.py -o shop-mcp" makes it. */
beforeAll(async () => {
  const own = join(root, 'own');
  mkdirSync(own);
  writeFileSync(join(own, 'shop.py'), SCRIPT);
  writeFileSync(join(own, 'prices.py'), 'PRICES = {"pen": 2, "ink": 5}\n');
  const look = await withPungi({}, (pungi) =>
    discoverScript(pungi, { code: SCRIPT, path: join(own, 'shop.py') }),
  );
  const wrapping = {
    name: 'shop',
    script: 'shop.py',
    mode: 'auto',
    environment: null,
    profile: null,
  } as const;
  const file = makeToolsFile(look, wrapping);
  writeFolder(placeFor(folder, ['shop.py'], false), folderFiles(folder, 'shop', [{ file, look }]));
});

const started: { kill(): void }[] = [];
afterAll(() => {
  for (const child of started) child.kill();
});

/** A wrapper that is asked one thing after another. */
function serve(python: string) {
  const child = spawn(python, [join(folder, 'wrapper.py')], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = 0;
  return {
    async ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
      id += 1;
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      for (;;) {
        const { value, done } = await answers.next();
        if (done) throw new Error('it has ended');
        const message = JSON.parse(value) as { id?: number; result?: Record<string, unknown> };
        if (message.id === id) return message.result ?? message;
      }
    },
    async end(): Promise<number | null> {
      const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
      child.stdin.end();
      return ended;
    },
  };
}

describe.each(findInterpreters() as { path: string; version: string }[])(
  'the folder, served by Python $version',
  ({ path }) => {
    test('answers a client, and calls functions and the command line', async () => {
      const { ask, end } = serve(path);
      const clientInfo = { name: 'test', version: '1' };
      expect(
        await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }),
      ).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'shop' } });
      const { tools } = (await ask('tools/list')) as { tools: { name: string; description: string }[] };
      expect(tools.map(({ name, description }) => [name, description])).toEqual([
        ['cost', 'What orders cost.'],
        ['shop', 'Tells a price.'],
      ]);
      const orders = [{ item: 'pen', count: 3 }, { item: 'ink' }];
      expect(await ask('tools/call', { name: 'cost', arguments: { orders } })).toMatchObject({
        structuredContent: { result: 11 },
      });
      expect(await ask('tools/call', { name: 'shop', arguments: { item: 'ink' } })).toMatchObject({
        structuredContent: { exitCode: 0, stdout: '5\n' },
      });
      expect(await ask('tools/call', { name: 'cost', arguments: { orders: [{}] } })).toMatchObject({
        isError: true,
      });
      expect(await end()).toBe(0);
    });
  },
);
