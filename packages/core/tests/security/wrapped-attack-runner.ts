/**
 * Plays every attack of wrapped scripts, in one tier as one user: the real server with a tools folder, and a real client.
 * Prints what came of each. The test bundles it, so that a user who cannot read the repository can run it.
 */
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { stateBelow } from '../../../../tests/support/state-below.js';
import { until } from '../../../../tests/support/until.js';
import { startHttp } from '../../../server/src/http.js';
import { Config } from '../../src/config/schema.js';
import { Pungi } from '../../src/pungi.js';
import { Bait } from './bait.js';
import { Baseline } from './baseline.js';
import { exitWhenRead } from './exit.js';
import type { TableRun } from './table-run.js';
import { type Host, type Reply, WRAPPED_ATTACKS } from './wrapped-attacks.js';

export interface WrappedTableRun extends TableRun {
  toolsFolder: string;
  auditFolder: string;
}

export interface WrappedRowResult {
  name: string;
  problems: string[];
}

const table = JSON.parse(await text(process.stdin)) as WrappedTableRun;
const { tier, python, canary, folder, toolsFolder, auditFolder } = table;
const bait = await Bait.lay(table);
const pungi = Pungi.start(
  Config.parse({
    ...{ tier, python, poolSize: 2, audit: false, auditDir: auditFolder, toolsDir: toolsFolder },
    ...{ cacheDir: `${folder}/cache`, venvsBasePath: `${folder}/environments`, maxConcurrentExecutions: 4 },
    artifactDir: `${folder}/artifacts`,
    scriptRoots: [bait.scripts],
  }),
);
await pungi.ready();
const door = await startHttp(pungi);
const client = new Client({ name: 'attacker', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(door.url)));
// A server lists the scripts that it has looked at: on a busy machine, not all of them at first.
const areOffered = async () => {
  const names = new Set((await client.listTools()).tools.map(({ name }) => name));
  return WRAPPED_ATTACKS.every(({ tool }) => names.has(tool));
};
await until(areOffered, 'every tool is offered', 120_000);

const { tcpPort, ...told } = bait.context();
const host: Host = {
  ...told,
  scripts: bait.scripts,
  toolsFolder,
  auditFolder,
  ports: [tcpPort, Number(new URL(door.url).port)],
};
host.secretFiles.push(`${toolsFolder}/till.py`);
const before = [toolsFolder, auditFolder].flatMap(stateBelow).join('\n');
for (const problem of await problemsOfNextCalls()) throw new Error(problem);
const baseline = await Baseline.remember(pungi, tmpdir());

for (const { name, tool, args, judge } of WRAPPED_ATTACKS) {
  const reply = await call(tool, args(host)).catch((error: Error) => `threw ${error.stack}`);
  const problem = typeof reply === 'string' ? reply : judge(reply);
  const row: WrappedRowResult = {
    name,
    problems: [
      ...(problem === undefined ? [] : [problem]),
      ...(JSON.stringify(reply).includes(canary) ? ['a secret shows'] : []),
      ...bait.problems(),
      ...(await problemsOfNextCalls()),
      ...([toolsFolder, auditFolder].flatMap(stateBelow).join('\n') === before
        ? []
        : ['a folder has changed']),
      ...(await baseline.problems()),
    ],
  };
  process.stdout.write(`${JSON.stringify(row)}\n`);
}
await client.close();
await door.close();
await pungi.close();
await bait.close();
exitWhenRead();

async function call(name: string, given: Record<string, unknown>): Promise<Reply> {
  const { isError = false, structuredContent, content } = await client.callTool({ name, arguments: given });
  const texts = content.map((block) => (block.type === 'text' ? block.text : block.type));
  return { isError, structured: structuredContent, texts };
}

/** As many as there are workers that wait: each of them may be the one that was tampered with. */
async function problemsOfNextCalls(): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, result] of [
    ['rate', 1.5],
    ['rate', 1.5],
    ['rate', 1.5],
    ['open_till', canary.length],
  ] as const) {
    const reply = await call(name, {});
    if (JSON.stringify(reply.structured) !== JSON.stringify({ result }))
      problems.push(`the next call of ${name} gave ${JSON.stringify(reply).slice(0, 1000)}`);
  }
  return problems;
}
