// A second client in its own thread: it pings continuously and reports the longest ping.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';

const { url, pid } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
let session;
let slowest = { ms: 0, cpuMs: 0, pings: 0 };

/**
 * Returns the CPU time of the server's main thread, to distinguish its work from waiting for a processor on a busy
 * machine.
 */
function cpuMs() {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return 0;
  }
}

const send = (message) =>
  new Promise((resolve, reject) => {
    const headers = { ...HEADERS, ...(session && { 'mcp-session-id': session }) };
    const req = request(url, { method: 'POST', agent, headers }, (res) => {
      session ??= res.headers['mcp-session-id'];
      res.resume().once('end', () => resolve(res.statusCode));
    });
    req.once('error', reject).end(JSON.stringify({ jsonrpc: '2.0', ...message }));
  });

async function initialize() {
  session = undefined;
  await send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pinger', version: '1' } },
  });
  await send({ method: 'notifications/initialized' });
}

parentPort.on('message', () => {
  parentPort.postMessage(slowest);
  slowest = { ms: 0, cpuMs: 0, pings: 0 };
});

await initialize();
parentPort.postMessage('ready');
for (let id = 1; ; id += 1) {
  const [began, used] = [performance.now(), cpuMs()];
  const status = await send({ id, method: 'ping' }).catch(() => 0);
  const ms = performance.now() - began;
  slowest.pings += 1;
  if (ms > slowest.ms) Object.assign(slowest, { ms, cpuMs: cpuMs() - used });
  // Another session has replaced this one, or the server has ended.
  if (status !== 200) await initialize().catch(() => process.exit(0));
  await new Promise((resolve) => setTimeout(resolve, 1));
}
