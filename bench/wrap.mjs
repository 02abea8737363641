// Compares a wrapped function with the same call in a bare subprocess: in the server, and in a standalone folder that
// needs only Python.

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { MAIN } from './contenders/mcp.mjs';
import { serverSettings } from './contenders/server-settings.mjs';
import { outputOf } from './contenders/spawned.mjs';
import { makeFolder, ownFolders } from './folder.mjs';
import { figure, table } from './report/table.mjs';
import { median } from './statistics.mjs';

const SCRIPT = fileURLToPath(new URL('../examples/wrap/report/sales.py', import.meta.url));
const TOOL = 'average';
const ARGUMENTS = { amounts: [19.5, 20.25, 21], digits: 3 };
const EXPECTED = 20.25;
const BARE =
  'import json, sys; sys.path.insert(0, sys.argv[1]); import sales; print(json.dumps(sales.average(**json.loads(sys.argv[2]))))';

const FULL = { rounds: 20, callsInRound: 10 };
const QUICK = { rounds: 5, callsInRound: 10 };

/** Returns medians in ms of alternating calls. */
export async function measureWrap({ python, tier }, { isQuick, gapMs, settleMs }, say = () => {}) {
  say('wrapped functions …');
  const folder = makeFolder('wrap');
  const [tools, alone] = [join(folder, 'tools'), join(folder, 'alone')];
  mkdirSync(tools);
  cpSync(SCRIPT, join(tools, 'sales.py'));
  const env = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...ownFolders() };
  const settings = { ...env, ...serverSettings({ python, tier, preload: [], env: { TOOLS_DIR: tools } }) };
  await outputOf(process.execPath, [MAIN, 'wrap', SCRIPT, '-o', alone]);
  const server = await connect({ command: process.execPath, args: [MAIN, 'serve'], env: settings });
  const standalone = await connect({ command: python, args: [join(alone, 'wrapper.py')], env });
  try {
    await offered(server);
    const contenders = {
      serverMs: () => called(server),
      standaloneMs: () => called(standalone),
      bareMs: async () => outputOf(python, ['-c', BARE, tools, JSON.stringify(ARGUMENTS)]),
    };
    return await compare(contenders, isQuick ? QUICK : FULL, { gapMs, settleMs });
  } finally {
    await Promise.all([server.close(), standalone.close()]);
  }
}

async function connect(command) {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport(command));
  return client;
}

/** Waits until the server offers the tool: it reads the folder after its first answers. */
async function offered(client) {
  while (!(await client.listTools()).tools.some(({ name }) => name === TOOL)) await pause(50);
}

async function called(client) {
  const { structuredContent } = await client.callTool({ name: TOOL, arguments: ARGUMENTS });
  if (structuredContent?.result !== EXPECTED) throw new Error(`got ${JSON.stringify(structuredContent)}`);
}

async function compare(contenders, { rounds, callsInRound }, { gapMs, settleMs }) {
  const samples = Object.fromEntries(Object.keys(contenders).map((id) => [id, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [id, call] of Object.entries(contenders)) {
      for (let n = 0; n < callsInRound; n += 1) {
        const started = performance.now();
        await call();
        // The first round warms caches and pools.
        if (round > 0) samples[id].push(performance.now() - started);
        await pause(gapMs);
      }
      await pause(settleMs);
    }
  }
  return Object.fromEntries(Object.entries(samples).map(([id, measured]) => [id, median(measured)]));
}

export const WRAP_TARGETS = [
  {
    about: 'a wrapped function in the server, over MCP, to a bare subprocess',
    atMost: 0.15,
    unit: '×',
    measure: ({ wrap }) => wrap && wrap.serverMs / wrap.bareMs,
  },
  {
    about: 'a wrapped function by the standalone folder: what it adds to a bare subprocess',
    atMost: 15,
    unit: ' ms',
    measure: ({ wrap }) => wrap && wrap.standaloneMs - wrap.bareMs,
  },
];

export function describeWrap({ wrap = {} }) {
  const row = (name, ms) => [name, figure(ms, ' ms'), figure(ms && ms / wrap.bareMs, '×')];
  return table(
    ['', 'median', '×'],
    [
      row('in the server, sandboxed, over MCP', wrap.serverMs),
      row('by the standalone folder, over MCP', wrap.standaloneMs),
      row('`python -c`, which imports the script and calls', wrap.bareMs),
    ],
  );
}
