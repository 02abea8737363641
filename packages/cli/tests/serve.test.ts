import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { parseListenAddress } from '../src/serve.js';
import { descendants, isAlive, type Running, start } from './pungi.js';

const running: Running[] = [];
const serve = (args: string[] = [], env: Record<string, string> = {}): Running => {
  const server = start(['serve', ...args], { env });
  running.push(server);
  return server;
};
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL');
});

const message = (id: number, method: string, params: object = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const HELLO = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
const INITIALIZED = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`;
const CALL = message(2, 'tools/call', { name: 'execute_python', arguments: { code: 'print("noise"); 1' } });

describe('over stdio', () => {
  test('without any argument a client on a pipe is served, with the settings of its variables', async () => {
    const server = start([], { env: { MAX_MEMORY_MB: '256', LOG_LEVEL: 'info', LOG_FORMAT: 'json' } });
    running.push(server);
    server.child.stdin.write(HELLO + INITIALIZED + message(2, 'tools/call', { name: 'health_check' }));
    await server.shows('stdout', '"id":2');
    server.child.stdin.end();
    const { status, stdout } = await server.ended;
    expect(status).toBe(0);
    expect(stdout).toContain('"maxMemoryMb":256');
  });

  test('stdout carries the protocol and nothing else, whatever is logged', async () => {
    const { child, ended, shows } = serve(['--log-level', 'debug', '--log-format', 'text']);
    child.stdin.write(HELLO + INITIALIZED + CALL);
    await shows('stdout', '"id":2');
    child.stdin.end();
    const { status, stdout } = await ended;
    expect(status).toBe(0);
    const messages = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const { jsonrpc } of messages) expect(jsonrpc).toBe('2.0');
    expect(messages.find(({ id }) => id === 1).result.serverInfo.name).toBe('pungi');
  });

  test.each(['the end of stdin', 'SIGTERM', 'SIGINT'] as const)(
    '%s ends the server and all its processes',
    async (how) => {
      const { child, ended, shows } = serve();
      child.stdin.write(HELLO);
      await shows('stderr', 'Ready to run Python');
      const below = descendants(child.pid!);
      expect(below.length).toBeGreaterThan(0);
      if (how === 'the end of stdin') child.stdin.end();
      else child.kill(how);
      expect((await ended).status).toBe(0);
      await expect.poll(() => below.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    },
  );

  test('without an interpreter the server answers, and logs what is missing', async () => {
    const { child, shows } = serve([], { PUNGI_PYTHON: '/nowhere/python3' });
    child.stdin.write(HELLO);
    await shows('stdout', '"id":1');
    await shows('stderr', '/nowhere/python3');
  });
});

test.each([
  ['VENVS_BASE_PATH', '/proc/nowhere/environments'],
  ['VENVS_BASE_PATH', '/dev/null'],
  ['PUNGI_CACHE_DIR', '/dev/null/cache'],
  ['PREINSTALLED_PACKAGES', 'numpy --index-url=x'],
  ['PREINSTALLED_PACKAGES', 'numpy==1 numpy==2'],
  ['SCRIPT_ROOTS', '/dev/null'],
  ['SCRIPT_ROOTS', `/${'x'.repeat(300)}`],
  ['TOOLS_DIR', `/${'x'.repeat(300)}`],
  ['ARTIFACT_DIR', '/dev/null/artifacts'],
  ['BACKGROUND_DIR', '/proc/nowhere/runs'],
  ['PUNGI_UV', '/nowhere/uv'],
  ['TOOLSETS', 'strategic,gardening'],
])('%s=%s stops the start with the reason', async (name, value) => {
  const { status, stdout, stderr } = await serve([], { [name]: value }).ended;
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^pungi: .*${name}.*\\n$`));
});

describe('over HTTP', () => {
  const READY = /isolation tier: (namespace|landlock|process)/;
  const urlOf = (text: string) => /http:\/\/[^\s"]+\/mcp/.exec(text)?.[0] ?? '';

  test('a person reads the address, the tier, and configuration to paste', async () => {
    const { child, ended, shows } = serve(['--http', '127.0.0.1:0']);
    const text = await shows('stderr', READY);
    const blocks = [...text.matchAll(/^ {2}\{[\s\S]*?^ {2}\}/gm)].map(([block]) => JSON.parse(block));
    expect(blocks).toEqual([
      { mcpServers: { pungi: { type: 'http', url: urlOf(text) } } },
      {
        mcpServers: {
          pungi: {
            command: process.execPath,
            args: [expect.stringMatching(/dist\/bundle\/main\.js$/), 'serve'],
          },
        },
      },
    ]);
    const answer = await fetch(urlOf(text), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: HELLO,
    });
    expect(await answer.text()).toContain('"name":"pungi"');
    child.kill('SIGTERM');
    const { status, stdout } = await ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  test('--quiet leaves stderr to the log', async () => {
    const { child, ended, shows } = serve(['--http', '127.0.0.1:0', '--quiet']);
    await shows('stderr', 'Ready to run Python');
    child.kill('SIGTERM');
    const { stderr } = await ended;
    for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('timestamp');
  });

  test('another port than the usual one is said, with the reason', async () => {
    const usual = createServer();
    await new Promise<void>((done) => {
      // Where somebody else has it already, that is as good.
      usual.once('error', () => done());
      usual.listen(8765, '127.0.0.1', () => done());
    });
    const { child, ended, shows } = serve(['--http']);
    const text = await shows('stderr', READY);
    child.kill('SIGTERM');
    usual.close();
    const { port } = new URL(urlOf(text));
    const { stderr } = await ended;
    expect(
      stderr.match(new RegExp(`Port 8765 is in use by another program, so port ${port} is used`, 'g')),
    ).toHaveLength(2);
  });

  test('on a terminal, log lines are for people', async () => {
    const server = start(['serve', '--http', '127.0.0.1:0'], { terminal: true });
    running.push(server);
    const shown = await server.shows('stdout', /Ctrl-C stops the server/);
    expect(shown).toMatch(/^\[20\d\d-\d\d-\d\d [\d:.]+\] INFO: Ready to run Python/m);
    expect(shown).not.toContain('"level"');
  });

  test('a port that is taken is one sentence', async () => {
    const other = createServer();
    const port = await new Promise<number>((done) => {
      other.listen(0, '127.0.0.1', () => done((other.address() as { port: number }).port));
    });
    const { ended } = serve(['--http', `127.0.0.1:${port}`, '--log-level', 'error']);
    const { status, stderr } = await ended;
    other.close();
    expect(status).toBe(2);
    expect(stderr).toMatch(
      new RegExp(`^pungi: Port ${port} of 127\\.0\\.0\\.1 is in use[^\\n]*--http[^\\n]*\\n$`),
    );
  });

  test('without an address two servers take different ports', async () => {
    const servers = [serve(['--http']), serve(['--http'])];
    const urls = await Promise.all(servers.map(async ({ shows }) => urlOf(await shows('stderr', /\/mcp/))));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect(new URL(url).hostname).toBe('127.0.0.1');
  });

  test('without an interpreter the start ends with the sentence that says so', async () => {
    const { ended } = serve(['--http', '127.0.0.1:0', '--log-level', 'error'], {
      PUNGI_PYTHON: '/nowhere/python3',
    });
    const { status, stderr } = await ended;
    expect(status).toBe(69);
    // That sentence and nothing before it: no address, no configuration to paste.
    expect(stderr).toMatch(/^pungi: [^\n]*\/nowhere\/python3[^\n]*\n$/);
  });
});

test.each([
  ['8080', { host: '127.0.0.1', port: 8080 }],
  [':8080', { host: '127.0.0.1', port: 8080 }],
  ['localhost:0', { host: 'localhost', port: 0 }],
  ['[::1]:9', { host: '::1', port: 9 }],
])('the address %s is understood', (text, address) => expect(parseListenAddress(text)).toEqual(address));

test.each(['', 'host', 'host:', 'a:b:1', '::1:9', '1.2.3.4:70000', ':-1'])(
  'the address %j is refused',
  (text) => {
    expect(() => parseListenAddress(text)).toThrow('must be an address');
  },
);
