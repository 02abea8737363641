/**
 * Runs inside a booted kernel: the short attack table and the verdicts in every tier, then the doctor. Each line that it
 * prints is one GuestReport.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Config } from '../../packages/core/src/config/schema.js';
import { Pungi } from '../../packages/core/src/pungi.js';
import { type AttackTier, fixture } from '../../packages/core/tests/security/attack.js';
import { Bait } from '../../packages/core/tests/security/bait.js';
import type { TableRun } from '../../packages/core/tests/security/table-run.js';
import type { GuestOrder, GuestReport } from './guest-report.js';

/** The whole machine is emulated: whatever takes a second elsewhere takes ten here. */
const NO_ANSWER_MS = 240_000;

const order = JSON.parse(await text(process.stdin)) as GuestOrder;
for (const tier of ['namespace', 'landlock'] as const) await tryTier(tier);
report({ doctor: doctor() });
report({ isDone: true });
process.exit(0);

async function tryTier(tier: AttackTier): Promise<void> {
  const folder = join(tmpdir(), tier);
  for (const path of [folder, `${folder}/home`]) mkdirSync(path);
  const table: TableRun = {
    tier,
    python: order.python,
    folder,
    secretFiles: [],
    secretFolders: [],
    canary: order.canary,
    victimCode: fixture('victim.py'),
    rows: order.rows,
  };
  const pungi = Pungi.start(
    Config.parse({
      python: table.python,
      tier,
      poolSize: 1,
      audit: false,
      maxProcesses: 256,
      maxConcurrentExecutions: 2,
      executionTimeoutMs: NO_ANSWER_MS,
      maxCpuMs: NO_ANSWER_MS,
      cacheDir: `${folder}/cache`,
      venvsBasePath: `${folder}/environments`,
    }),
  );
  try {
    await pungi.ready();
  } catch (error) {
    report({ tier, refused: (error as Error).message });
    await pungi.close();
    return;
  }
  const bait = await Bait.lay(table);
  for (const row of order.rows) {
    const context = { ...bait.context(), tier, temporaryFolder: tmpdir(), runnerPid: process.pid };
    const more = { keeperPid: process.ppid, treePids: [process.pid], victim: null, victimHostPid: null };
    const abort = new AbortController();
    if (row.cancelAfterMs !== null) setTimeout(() => abort.abort(), row.cancelAfterMs);
    const request = { context: { ...context, ...more }, ...row.request };
    const outcome = await pungi.run(request, { signal: abort.signal });
    report({ tier, result: { name: row.name, outcome, tookMs: 0, problems: bait.problems() } });
  }
  await bait.close();
  await pungi.close();
  report({ tier, left: processesBesideUs() });
}

/** What is left of this user's processes once the library is closed. */
function processesBesideUs(): string[] {
  const script = `
import os
for name in filter(str.isdigit, os.listdir("/proc")):
    try:
        command = open(f"/proc/{name}/cmdline", "rb").read().replace(b"\\0", b" ").decode(errors="replace")
    except OSError:
        continue
    if "pungi" in command and int(name) not in (${process.pid}, os.getpid()):
        print(name, command[:200])
`;
  const output = execFileSync(order.python, ['-I', '-c', script], { encoding: 'utf8' });
  return output.split('\n').filter((line) => line !== '');
}

function doctor(): string {
  const args = [order.commandLine, 'doctor'];
  const env = { ...process.env, PUNGI_PYTHON: order.python, AUDIT: 'false' };
  try {
    return execFileSync(process.execPath, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return `${stdout}${stderr}`;
  }
}

function report(said: GuestReport): void {
  process.stdout.write(`PUNGI ${JSON.stringify(said)}\n`);
}
