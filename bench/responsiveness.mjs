// Measures the slowest ping of a second client while the first one sends or prints harmful data.
// `node bench/responsiveness.mjs [TEXT]` measures these rows alone, or those whose names contain the text.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { INPUTS } from '../tests/fixtures/hostile/inputs.mjs';
import { OUTPUTS } from '../tests/fixtures/hostile/outputs.mjs';
import { serverSettings } from './contenders/server-settings.mjs';
import { ownFolders } from './folder.mjs';
import { figure, table } from './report/table.mjs';

const MAIN = fileURLToPath(new URL('../dist/bundle/main.js', import.meta.url));
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'hostile', version: '1' } },
};
const LIMIT_MS = 100;

/** Attacks with many connections. */
const CROWDS = {
  '1,000 sessions with open streams': async (server) => {
    const streams = [];
    for (let n = 0; n < 1000; n += 1) streams.push(await server.openStream());
    return () => closeAll(streams);
  },
  '400 connections that say nothing': (server) => server.openRaw(400, ''),
  '400 requests that do not go on after their first header': (server) =>
    server.openRaw(400, 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n'),
  '60 requests of 7 MB that do not come to an end': (server) => {
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${8 * 1024 * 1024}\r\n\r\n`;
    return server.openRaw(60, head + 'x'.repeat(7 * 1024 * 1024));
  },
  '200 clients that ask for much and do not read': (server) =>
    server.openRaw(200, initializing('').repeat(20)),
  '200 clients that invent sessions': (server) =>
    server.openRaw(
      200,
      Array.from({ length: 20 }, () => initializing(`Mcp-Session-Id: ${randomUUID()}\r\n`)).join(''),
    ),
  '200 clients that name their protocol first': (server) =>
    server.openRaw(200, initializing('Mcp-Protocol-Version: 2025-11-25\r\n').repeat(20)),
  '500 pings at once': (server) =>
    Promise.all(Array.from({ length: 500 }, () => server.post('{"jsonrpc":"2.0","id":1,"method":"ping"}'))),
  'a batch of 100 lists of tools': (server) =>
    server.post(
      JSON.stringify(Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))),
    ),
  '5 runs at once that print line breaks one by one': (server) =>
    Promise.all(
      Array.from({ length: 5 }, (_, id) => server.run(OUTPUTS['370,000 line breaks, one by one'], id)),
    ),
  '5 requests of 6 MB at once': (server) => {
    const message = INPUTS['a context of 6 MB of text']();
    const withId = (id) => message.replace(/"id":7}$/, `"id":${id}}`);
    return Promise.all(Array.from({ length: 5 }, (_, id) => server.post(withId(id))));
  },
};

/** A long request to begin a session, with these headers more. */
function initializing(headers) {
  const body = JSON.stringify(INITIALIZE).padEnd(60_000);
  return `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

export async function measureResponsiveness({ python, tier }, { isQuick }, say = () => {}, text = '') {
  const server = await startServer(serverSettings({ python, tier, preload: [] }));
  const pinger = new Worker(new URL('./measure/pinger.mjs', import.meta.url), {
    workerData: { url: server.url, pid: server.pid },
  });
  await once(pinger, 'message');
  const take = async () => {
    pinger.postMessage('take');
    return (await once(pinger, 'message'))[0];
  };
  const cases = [
    ['nothing else', () => pause(isQuick ? 200 : 1000)],
    ...Object.entries(INPUTS).map(([name, make]) => [name, () => server.post(make())]),
    ...Object.entries(OUTPUTS).map(([name, code], id) => [name, () => server.run(code, id)]),
    ...Object.entries(CROWDS).map(([name, act]) => [name, () => act(server)]),
  ].filter(([name]) => name.includes(text));
  const rows = [];
  try {
    await pause(500);
    for (const [name, act] of cases) {
      await take();
      const end = await act();
      await pause(30);
      const { ms, cpuMs, pings } = await take();
      rows.push({ name, ms, cpuMs, pings, rssMb: server.rssMb() });
      say(
        `${name}: ${ms.toFixed(0)} ms (${cpuMs.toFixed(0)} ms of the server), ${server.rssMb().toFixed(0)} MB`,
      );
      if (typeof end === 'function') end();
    }
  } finally {
    await pinger.terminate();
    await server.close();
  }
  return rows;
}

async function startServer(env) {
  const child = spawn(process.execPath, [MAIN, 'serve', '--http', '127.0.0.1:0'], {
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...ownFolders(),
      ...env,
      EXECUTION_TIMEOUT_MS: '20000',
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let url;
  for await (const line of createInterface(child.stderr)) {
    url = /http:\/\/\S+\/mcp/.exec(line)?.[0];
    if (url) break;
  }
  child.stderr.resume();
  return new HostileClient(child, url);
}

class HostileClient {
  #child;
  #session;

  constructor(child, url) {
    this.#child = child;
    this.url = url;
  }

  get pid() {
    return this.#child.pid;
  }

  rssMb() {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))[1]) / 1024;
  }

  /** Returns the reply as text, in a session that is opened if there is none. */
  async post(body) {
    this.#session ??= this.#initialize();
    const res = await this.#send(body, { 'mcp-session-id': await this.#session });
    if (res.statusCode === 404) this.#session = undefined;
    return res.text;
  }

  run(code, id) {
    const params = { name: 'execute_python', arguments: { code }, _meta: { progressToken: `token-${id}` } };
    return this.post(JSON.stringify({ jsonrpc: '2.0', id: `run-${id}`, method: 'tools/call', params }));
  }

  async openStream() {
    const session = await this.#initialize();
    const req = request(this.url, { headers: { accept: 'text/event-stream', 'mcp-session-id': session } });
    req.on('error', () => {}).end();
    const [res] = await once(req, 'response');
    return res.on('error', () => {});
  }

  /** Opens connections that write this and read nothing. Returns a function that closes them. */
  async openRaw(count, written) {
    const sockets = Array.from({ length: count }, () => {
      const socket = connect(Number(new URL(this.url).port), '127.0.0.1');
      socket.on('error', () => {}).pause();
      socket.write(written);
      return socket;
    });
    await pause(2000);
    return () => closeAll(sockets);
  }

  /** Returns the id of a new session. */
  async #initialize() {
    const res = await this.#send(JSON.stringify(INITIALIZE), {});
    if (res.statusCode !== 200) throw new Error(`initialize: HTTP ${res.statusCode}: ${res.text}`);
    return res.headers['mcp-session-id'];
  }

  async #send(body, headers) {
    const req = request(this.url, { method: 'POST', headers: { ...HEADERS, ...headers } });
    req.on('error', () => {}).end(body);
    const [res] = await once(req, 'response');
    return Object.assign(res, { text: await text(res) });
  }

  async close() {
    const closed = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await closed;
  }
}

function closeAll(sockets) {
  for (const socket of sockets) socket.destroy();
}

export const RESPONSIVENESS_TARGETS = [
  {
    about: 'the slowest ping of a second client while the first one is hostile',
    atMost: LIMIT_MS,
    unit: ' ms',
    measure: ({ responsiveness }) => responsiveness && Math.max(...responsiveness.map(({ ms }) => ms)),
  },
];

export const describeResponsiveness = ({ responsiveness = [] }) =>
  table(
    ['the first client', 'slowest ping of the second', 'CPU time of the server in it', 'server'],
    responsiveness.map(({ name, ms, cpuMs, rssMb }) => [
      name,
      figure(ms, ' ms'),
      figure(cpuMs, ' ms'),
      figure(rssMb, ' MB'),
    ]),
  );

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { findPython } = await import('./python.mjs');
  const text = process.argv.slice(2).join(' ');
  const rows = await measureResponsiveness(await findPython(), { isQuick: true }, console.error, text);
  console.log(describeResponsiveness({ responsiveness: rows }));
}
