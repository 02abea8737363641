/**
 * Plays every attack of discovery, in one tier as one user, by each door: wrap_script of a real server, a tools folder, and
 * what "pungi wrap" does. Prints what came of each. The test bundles it, so that a user who cannot read the repository can run
 * it.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { stateBelow } from '../../../../tests/support/state-below.js';
import { startHttp } from '../../../server/src/http.js';
import { wrapScript } from '../../../wrap/src/tools-file/wrap-script.js';
import { WrappedScripts } from '../../../wrap/src/tools-folder/wrapped-scripts.js';
import { Config } from '../../src/config/schema.js';
import { Pungi } from '../../src/pungi.js';
import { Bait } from './bait.js';
import { Baseline } from './baseline.js';
import { DISCOVERY_ATTACKS, type Shown } from './discovery-attacks.js';
import { exitWhenRead } from './exit.js';
import type { WrappedRowResult, WrappedTableRun } from './wrapped-attack-runner.js';

const table = JSON.parse(await text(process.stdin)) as WrappedTableRun;
const { tier, python, canary, folder, toolsFolder, auditFolder } = table;
const bait = await Bait.lay(table);
const pungi = Pungi.start(
  Config.parse({
    ...{
      tier,
      python,
      poolSize: 2,
      audit: false,
      auditDir: auditFolder,
      toolsDir: toolsFolder,
      wrapTools: true,
    },
    ...{ cacheDir: `${folder}/cache`, venvsBasePath: `${folder}/environments`, maxConcurrentExecutions: 4 },
    artifactDir: `${folder}/artifacts`,
    ...{
      executionTimeoutMs: 4000,
      maxRequestTimeoutMs: 4000,
      maxCpuMs: 4000,
      maxMemoryMb: 256,
      maxRequestMemoryMb: 256,
    },
    ...{ maxProcesses: 32, maxRequestProcesses: 32, maxDiskMb: 16, maxRequestDiskMb: 16 },
  }),
);
await pungi.ready();
const http = await startHttp(pungi);
const client = new Client({ name: 'attacker', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(http.url)));
await client.listTools();

const { tcpPort, ...told } = bait.context();
const host = { ...told, toolsFolder, auditFolder, ports: [tcpPort, Number(new URL(http.url).port)] };
const before = stateOfFolders();
for (const problem of await problemsOfNextCalls()) throw new Error(problem);
const baseline = await Baseline.remember(pungi, tmpdir());

for (const { name, code, judge } of DISCOVERY_ATTACKS) {
  const whole = `HOST = ${JSON.stringify(host)}\n${code}`;
  const problems: string[] = [];
  for (const door of [byClient, byFolder, byCommand]) {
    const shown = await door(whole).catch((error: Error) => failed(door.name, error));
    const wrong = [
      ...(shown.text.includes(canary) ? ['a secret shows'] : []),
      ...(shown.text.length > 9 * 1024 * 1024 ? [`it shows ${shown.text.length} characters`] : []),
      ...[judge(shown)].filter((problem) => problem !== undefined),
      ...bait.problems(),
      ...(await problemsOfNextCalls()),
      ...(stateOfFolders() === before ? [] : [`a folder has changed: ${before} is now ${stateOfFolders()}`]),
      ...(await baseline.problems()),
    ];
    problems.push(...wrong.map((problem) => `${door.name}: ${problem}`));
  }
  process.stdout.write(`${JSON.stringify({ name, problems } satisfies WrappedRowResult)}\n`);
}
await client.close();
await http.close();
await pungi.close();
await bait.close();
exitWhenRead();

/** A client gives the script, and takes it away again. */
async function byClient(code: string): Promise<Shown> {
  const reply = await client.callTool({ name: 'wrap_script', arguments: { filename: 'attack.py', code } });
  const { tools = [], problem = null } = (reply.structuredContent ?? {}) as Partial<Shown>;
  const words = JSON.stringify(reply);
  if (reply.isError) return { door: 'byClient', tools: [], problem: words, text: words };
  await client.callTool({ name: 'unwrap_script', arguments: { name: 'attack' } });
  return { door: 'byClient', tools, problem, text: words };
}

/** The script lies in a tools folder. */
async function byFolder(code: string): Promise<Shown> {
  const place = ownPlace(code);
  const scripts = new WrappedScripts(place, pungi, pungi.logger, true);
  try {
    await scripts.look();
    const [found] = scripts.scripts;
    const shown = { tools: [...scripts.tools.keys()], problem: found?.problem ?? scripts.problem };
    const specs = [...scripts.tools.values()].map(({ spec }) => spec);
    return {
      door: 'byFolder',
      ...shown,
      text: JSON.stringify([shown, specs, found?.inUse?.tools.dependencies]),
    };
  } finally {
    await scripts.close();
    rmSync(place, { recursive: true });
  }
}

/** What "pungi wrap" does before it writes anything. Its names are those of the tools file: none is taken yet. */
async function byCommand(code: string): Promise<Shown> {
  const place = ownPlace(code);
  try {
    const path = join(place, 'attack.py');
    const own = { code, path, filename: 'attack.py' };
    const { file, look } = await wrapScript(pungi, own, {}, { name: 'attack', script: path, old: undefined });
    return {
      door: 'byCommand',
      tools: file.tools.map((tool) => tool.name),
      problem: look.problem,
      text: JSON.stringify(file),
    };
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** Its files. The folder itself changes when a client wraps and unwraps a script. */
function stateOfFolders(): string {
  const states = [toolsFolder, auditFolder].flatMap(stateBelow);
  const isOthers = (path: string) => path === toolsFolder || path.startsWith(`${toolsFolder}/.clients`);
  return states.filter((state) => !isOthers((JSON.parse(state) as string[])[0]!)).join('\n');
}

function ownPlace(code: string): string {
  const place = join(folder, 'attacker');
  mkdirSync(place);
  writeFileSync(join(place, 'attack.py'), code);
  return place;
}

const failed = (door: string, { message }: Error): Shown => ({
  door,
  tools: [],
  problem: message,
  text: message,
});

/** As many as there are workers that wait: each of them may be the one that was tampered with. */
async function problemsOfNextCalls(): Promise<string[]> {
  const problems: string[] = [];
  for (const name of ['rate', 'rate', 'rate']) {
    const { structuredContent } = await client.callTool({ name, arguments: {} });
    if (JSON.stringify(structuredContent) !== '{"result":1.5}')
      problems.push(`the next call of ${name} gave ${JSON.stringify(structuredContent)?.slice(0, 1000)}`);
  }
  return problems;
}
