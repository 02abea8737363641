import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../packages/core/src/config/load.js';
import { Pungi } from '../../packages/core/src/pungi.js';
import { type HttpDoor, startHttp } from '../../packages/server/src/http.js';
import { TOOLS } from '../../packages/server/tests/calls.js';
import { NO_ENVIRONMENTS } from '../../packages/server/tests/doors.js';
import { MAIN } from '../support/main.js';
import { ownFolders } from '../support/own-folders.js';
import { ensureJudges, inspectorCli, judgeNode } from './ensure.js';

const run = promisify(execFile);

const storage = mkdtempSync(join(tmpdir(), 'pungi-inspector-'));
let pungi: Pungi;
let door: HttpDoor;

beforeAll(async () => {
  await ensureJudges();
  pungi = Pungi.start(loadConfig({ env: NO_ENVIRONMENTS }));
  door = await startHttp(pungi);
}, 300_000);

afterAll(async () => {
  await door?.close();
  await pungi?.close();
  rmSync(storage, { recursive: true });
});

/** How the Inspector's command line ended: with a result on stdout, or with an error on stderr. */
async function inspect(
  target: string[],
  method: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const args = [inspectorCli, '--cli', ...method, ...target];
  // Else the Inspector keeps files in the home folder of whoever runs the tests.
  const env = {
    ...process.env,
    ...NO_ENVIRONMENTS,
    MCP_STORAGE_DIR: storage,
    MCP_CATALOG_PATH: join(storage, 'catalog.json'),
  };
  return run(judgeNode, args, { timeout: 60_000, env }).then(
    (ended) => ({ code: 0, ...ended }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  );
}

/** The Inspector hands on none of ours. */
const variables = () => Object.entries(ownFolders()).map(([name, value]) => `${name}=${value}`);

const TARGETS = [
  {
    transport: 'stdio',
    target: () => ['--', 'env', ...variables(), process.execPath, MAIN, 'serve', '--tools', 'off'],
  },
  { transport: 'HTTP', target: () => ['--transport', 'http', '--server-url', door.url] },
];

describe.each(TARGETS)('Inspector over $transport', ({ target }) => {
  const call = (code: string) =>
    inspect(target(), [
      '--method',
      'tools/call',
      '--tool-name',
      'execute_python',
      '--tool-arg',
      `code=${code}`,
    ]);

  test('lists the tools, and finds their schemas portable', async () => {
    const { code, stdout, stderr } = await inspect(target(), ['--method', 'tools/list', '--strict']);
    expect(code, stderr).toBe(0);
    const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(TOOLS);
  }, 60_000);

  test('runs Python', async () => {
    const { code, stdout } = await call('print(6 * 7)');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      content: [{ type: 'text', text: '42\n' }],
      structuredContent: { stdout: '42\n' },
    });
  }, 60_000);

  test('shows a Python error as an error', async () => {
    const { code, stdout, stderr } = await call('1 / 0');
    expect(code).toBe(5);
    expect(stdout + stderr).toContain('PYTHON_ERROR');
  }, 60_000);
});
