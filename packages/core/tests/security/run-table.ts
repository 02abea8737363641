import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type Attack, type AttackTier, fixture, requestOf, type User } from './attack.js';
import { REPOSITORY, runnerFolder, type Stage, startedIn } from './stage.js';
import type { RowResult, TableRun } from './table-run.js';

/** What came of the whole table in one tier, as one user. */
export interface TableReport {
  results: Map<string, RowResult>;
  /** Processes alive after the runner had closed the library and ended. */
  survivors: string[] | null;
  /** Files in its temporary folder after it had closed the library. */
  leftFiles: string[] | null;
  stderr: string;
}

export async function runTable(
  stage: Stage,
  tier: AttackTier,
  user: User,
  attacks: readonly Attack[],
): Promise<TableReport> {
  const folder = runnerFolder(stage, tier, user);
  // The canary on the command line shows whether a run can see other processes.
  const child = spawn(stage.python, ['-I', stage.keeper, stage.node, stage.runner, stage.canary], {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...startedIn(folder, user, {
      SERVER_SECRET: stage.canary,
      PYTHONPATH: `${folder}/${stage.canary}`,
      CGROUPS: process.env['CGROUPS'] ?? 'auto',
    }),
  });
  const table: TableRun = {
    tier,
    python: stage.python,
    folder,
    secretFiles: [`${REPOSITORY}/package.json`, `${REPOSITORY}/src/pungi.ts`, stage.runner, stage.keeper],
    secretFolders: [REPOSITORY, `${REPOSITORY}/src`, stage.folder],
    canary: stage.canary,
    victimCode: fixture('victim.py'),
    rows: attacks.map((attack) => ({
      name: attack.name,
      request: requestOf(attack),
      victim: attack.victim ?? false,
      bystander: attack.bystander ?? false,
      cancelAfterMs: attack.cancelAfterMs ?? null,
      calls: attack.calls ?? null,
    })),
  };
  child.stdin.end(JSON.stringify(table));
  const report: TableReport = { results: new Map(), survivors: null, leftFiles: null, stderr: '' };
  const stderr = text(child.stderr);
  const closed = once(child, 'close');
  try {
    for await (const line of createInterface({ input: child.stdout })) hear(line, report);
  } finally {
    child.stdout.destroy(); // else a runner that was not read to its end would wait for us
  }
  await closed;
  report.stderr = await stderr;
  return report;
}

function hear(line: string, report: TableReport): void {
  const said = JSON.parse(line) as Partial<RowResult> & {
    survivors?: string[];
    closed?: boolean;
    leftFiles?: string[];
  };
  if (said.survivors) report.survivors = said.survivors;
  else if (said.closed) report.leftFiles = said.leftFiles ?? [];
  else report.results.set(said.name!, said as RowResult);
}
