// Measures from the start of a server process to its answer to `initialize`: Pungi compared with an empty server of
// the same SDK.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../contenders/mcp.mjs';
import { serverSettings } from '../contenders/server-settings.mjs';
import { median } from '../statistics.mjs';

const EMPTY_SERVER = fileURLToPath(new URL('./empty-server.mjs', import.meta.url));

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  },
};

export async function measureInitialize(workload, { spawns }) {
  const env = { ...process.env, ...serverSettings(workload) };
  const pungi = [];
  const empty = [];
  // The first pair only fills the file cache.
  for (let spawned = 0; spawned <= spawns; spawned += 1) {
    const emptyMs = await timeToAnswer([EMPTY_SERVER], env);
    const pungiMs = await timeToAnswer([MAIN, 'serve'], env);
    if (spawned === 0) continue;
    empty.push(emptyMs);
    pungi.push(pungiMs);
  }
  return { pungiMs: median(pungi), emptyMs: median(empty) };
}

function timeToAnswer(args, env) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
    let took;
    createInterface({ input: child.stdout }).once('line', (line) => {
      took = performance.now() - started;
      if (JSON.parse(line).result?.serverInfo === undefined) reject(new Error(`not an answer: ${line}`));
      child.stdin.end();
    });
    child.once('error', reject);
    child.once('close', () => {
      if (took === undefined) reject(new Error(`${args[0]} ended without an answer to initialize`));
      else resolve(took);
    });
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  });
}
