import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findInterpreter } from '../../packages/core/src/sandbox/interpreter.js';
import { natsServer } from '../support/nats-server.js';
import { ownFolders } from '../support/own-folders.js';
import { type PackageIndex, startPackageIndex } from '../support/package-index.js';
import { ensureUv } from '../support/uv.js';
import { type ShellRunning, shellIn } from './shell.js';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/cluster.md'), 'utf8');
const lines = [...page.matchAll(/^```sh\n(.*?)^```/gms)].flatMap((match) => match[1]!.trim().split('\n'));
/** Commands that go on until they are stopped, and what they print once they are ready. */
const SERVERS: [begins: RegExp, shows: string][] = [
  [/nats-server /, 'Server is ready'],
  [/^pungi worker /, 'The worker takes runs'],
  [/^pungi serve /, 'is ready; isolation tier'],
];

let folder: string;
let port: number;
let python: string;
let index: PackageIndex;
const env: Record<string, string> = {};
const servers: ShellRunning[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pungi-docs-'));
  port = await freePort();
  const { HOME = '' } = process.env;
  const PATH = `${dirname(await natsServer())}:${process.env['PATH']}`;
  ({ path: python } = await findInterpreter());
  index = await startPackageIndex([{ name: 'six', version: '1.17.0', files: { 'six.py': '' } }]);
  const packages = { ...index.env, PUNGI_UV: await ensureUv() };
  Object.assign(env, { HOME, PATH, ...ownFolders(), XDG_STATE_HOME: join(folder, 'state'), ...packages });
});
afterAll(async () => {
  for (const server of servers.reverse()) await server.stop();
  await index.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The documented port may be in use here, and another interpreter's pip first in PATH. */
const here = (line: string) =>
  line
    .replace('localhost:4222', `localhost:${port}`)
    .replace(/^pip /, `${python} -m pip `)
    .replace(/^(pungi cluster init [\w-]+)/, `$1 --port ${port}`);

test.each(lines)('docs/cluster.md: %s', async (line) => {
  if (line.startsWith('export ')) {
    for (const pair of here(line).split(' ').slice(1)) env[pair.split('=')[0]!] = pair.split('=')[1]!;
    return;
  }
  const running = shellIn(folder, here(line).replace('serve --http', 'serve --http 127.0.0.1:0'), env);
  const server = SERVERS.find(([begins]) => begins.test(line));
  if (server === undefined) {
    const { status, output } = await running.ended;
    expect(status, output).toBe(0);
    return;
  }
  servers.push(running);
  await running.shows(server[1]);
});

test('the status of the documented cluster has no problem but the drained worker', async () => {
  const { output } = await shellIn(folder, 'pungi cluster status --json', env).ended;
  expect(JSON.parse(output)).toMatchObject({
    workers: [{ name: 'worker-1', state: 'ready' }],
    frontEnds: [{}],
    problems: [],
  });
});

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: found } = server.address() as { port: number };
      server.close(() => done(found));
    });
  });
}
