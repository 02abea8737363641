// Prints the modules of the build that one `execute_python` call passes, once the server is warm: those of which a function ran.
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { at } from './repository.mjs';

const { loadConfig, Pungi } = await import('../dist/pungi/src/index.js');
const { startHttp } = await import('../dist/server/src/http.js');

const folder = mkdtempSync(join(tmpdir(), 'pungi-run-path-'));
const env = { VENVS_BASE_PATH: join(folder, 'venvs'), AUDIT_DIR: join(folder, 'audit'), TOOLS_DIR: 'off' };
const pungi = Pungi.start(loadConfig({ env: { ...process.env, ...env } }));
const door = await startHttp(pungi);
const client = new Client({ name: 'run-path', version: '1' });
try {
  await pungi.ready();
  await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
  const call = () => client.callTool({ name: 'execute_python', arguments: { code: 'print(1)' } });
  for (let warm = 0; warm < 3; warm += 1) await call();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await call();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const passed = result
    .filter(
      ({ url, functions }) => url.startsWith('file:') && functions.some(({ ranges }) => ranges[0].count > 0),
    )
    .map(({ url }) => relative(at('dist'), fileURLToPath(url)))
    .filter((path) => !path.startsWith('..'))
    .sort();
  console.log(passed.join('\n'));
  console.log(`${passed.length} modules`);
} finally {
  await client.close();
  await door.close();
  await pungi.close();
  rmSync(folder, { recursive: true, force: true });
}
