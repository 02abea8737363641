/**
 * Plays every attack on profiles, in one tier as one user, and prints what came of each.
 * The test bundles it, so that a user who cannot read the repository can run it.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { jobOf } from '../../../../tests/support/job.js';
import { stateBelow } from '../../../../tests/support/state-below.js';
import { silentLogger } from '../../src/base/logger.js';
import type { CodeSummary } from '../../src/contract/disclosure.js';
import { DEFAULT_LIMITS } from '../../src/contract/limits.js';
import type { Outcome } from '../../src/contract/outcome.js';
import { Engine } from '../../src/engine/engine.js';
import type { Job } from '../../src/runtime/job.js';
import type { AttackTier } from './attack.js';
import { exitWhenRead } from './exit.js';
import { PROFILE_ATTACKS, type ProfileAttack } from './profile-attacks.js';

export interface ProfileTableRun {
  tier: AttackTier;
  python: string;
  /** Holds the folders `sales` and `other`, and secret.txt beside them. */
  ground: string;
  /** An environment with the package of the scope tests. */
  venv: string;
}

export interface ProfileRowResult {
  name: string;
  problems: string[];
}

const { tier, python, ground, venv } = JSON.parse(await text(process.stdin)) as ProfileTableRun;
const secret = readFileSync(join(ground, 'secret.txt'), 'utf8');
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
const port = await new Promise<number>((resolve) => {
  server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port));
});

const NO_RULES = {
  profile: 'attacked',
  message: null,
  allowedImports: null,
  blockedImports: [],
  blockedBuiltins: [],
  blockedOperations: [],
  defaultImports: [],
};
const engine = new Engine(
  {
    tier,
    python,
    allowUnsandboxed: false,
    poolSize: 1,
    preload: [],
    preloadTimeoutMs: 60_000,
    memoryMb: 512,
    diskMb: 32,
    maxActive: 4,
    maxQueued: 10,
    idleTimeoutMs: 600_000,
    environment: 'default',
    maxWarm: 4,
  },
  silentLogger,
);
const ref = { environment: 'attacked', generation: 'one', python: join(venv, 'bin/python'), roots: [venv] };

const before = stateBelow(ground);
await run('print(1)', 'other');
for (const attack of PROFILE_ATTACKS) {
  const problems = await play(attack).catch((error: Error) => [`threw ${error.stack}`]);
  const row: ProfileRowResult = { name: attack.name, problems: [...problems, ...(await lookAround())] };
  process.stdout.write(`${JSON.stringify(row)}\n`);
}
await engine.close();
exitWhenRead();

function run(
  code: string,
  data: string | undefined,
  more: Partial<Job> = {},
  onSummary: (summary: CodeSummary) => void = () => {},
): Promise<Outcome> {
  const context = { secret: join(ground, 'secret.txt'), other: join(ground, 'other'), port };
  const limits = { ...DEFAULT_LIMITS, timeoutMs: 10_000, diskMb: 16, processes: 32 };
  const job = jobOf(code, { limits, variables: { context } });
  // Also as a folder of scripts, which is not shown below data/.
  const names = data === undefined ? [] : [data, '.scripts'];
  const folders = names.map((name) => ({ name, path: join(ground, data!) }));
  const poolSpec = { preload: [], data: folders, allowedHosts: [] };
  return engine.run({ job: { ...job, ...more }, ref, poolSpec }, { onSummary });
}

async function play({ code, rules, summarize, judge }: ProfileAttack): Promise<string[]> {
  let summary: CodeSummary | null = null;
  const more = { ...(summarize && { summarize }), ...(rules && { rules: { ...NO_RULES, ...rules } }) };
  const outcome = await run(code, 'sales', more, (told) => (summary = told));
  const problem = judge(outcome, summary);
  const isLeaked = JSON.stringify(outcome).includes(secret);
  return [
    ...(problem === undefined
      ? []
      : [`${problem}\n${JSON.stringify(outcome.verdict)}\n${outcome.stderr.text}`]),
    ...(isLeaked ? ['the secret is in the outcome'] : []),
  ];
}

/** What must be so after every row. */
async function lookAround(): Promise<string[]> {
  const problems: string[] = [];
  if (stateBelow(ground).join('\n') !== before.join('\n')) problems.push('the folders are not as they were');
  if (connections > 0) problems.push('a run reached the network');
  for (const [data, expected] of [
    ['sales', "['sales'] a,b\n1,2\n"],
    ['other', "['other'] c,d\n3,4\n"],
    [undefined, "['main.py']"],
  ] as const) {
    const code =
      data === undefined
        ? 'import os\nprint(os.listdir("."), end="")'
        : `import os\nprint(os.listdir("data"), open("data/${data}/rows.csv").read(), end="")`;
    const { verdict, stdout } = await run(code, data);
    if (verdict.kind !== 'ok' || stdout.text !== expected)
      problems.push(`the next run saw ${JSON.stringify(verdict)} ${stdout.text}`);
  }
  return problems;
}
