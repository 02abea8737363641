import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../packages/core/src/config/load.js';
import { Pungi } from '../../packages/core/src/pungi.js';
import { type HttpDoor, startHttp } from '../../packages/server/src/http.js';
import { NO_ENVIRONMENTS } from '../../packages/server/tests/doors.js';
import { conformanceCli, conformanceFolder, ensureJudges, judgeNode } from './ensure.js';
import { conformanceFixtures } from './fixtures.js';

const run = promisify(execFile);

const results = mkdtempSync(join(tmpdir(), 'pungi-conformance-'));
let pungi: Pungi;
let door: HttpDoor;

beforeAll(async () => {
  await ensureJudges();
  pungi = Pungi.start(loadConfig({ env: NO_ENVIRONMENTS }));
  const changes = new InMemoryServerEventBus();
  door = await startHttp(pungi, { changes, extension: conformanceFixtures(changes) });
}, 300_000);

afterAll(async () => {
  await door?.close();
  await pungi?.close();
  rmSync(results, { recursive: true });
});

// Of the ten scenarios for tasks, which no revision requires, one always skips.
test.each([
  ['2025-11-25', 0],
  ['2026-07-28', 9],
])(
  'the official suite finds the server conforming to %s, and %d scenarios of tasks',
  async (revision, tasks) => {
    const args = ['server', '--url', door.url, '--requirements', revision, '--output-dir', results];
    const { code, stdout } = await run(judgeNode, [conformanceCli, ...args], { cwd: results }).then(
      (ended) => ({ code: 0, ...ended }),
      (failed: { code: number; stdout: string }) => failed,
    );
    const passed = scenarios(stdout, '✓');
    const failed = scenarios(stdout, '✗');
    expect(failed).toEqual([]);
    expect(passed.filter((scenario) => scenario.startsWith('tasks-'))).toHaveLength(tasks);
    expect(required(revision).filter((scenario) => !passed.includes(scenario))).toEqual([]);
    expect(code).toBe(0);
  },
  180_000,
);

/** The lines of the summary: a mark, the scenario, and how many checks passed and failed; none where it skips. */
function scenarios(report: string, mark: string): string[] {
  return [...report.matchAll(new RegExp(`^${mark} (\\S+): (\\d+) passed, (\\d+) failed`, 'gm'))]
    .filter(([, , passed, failed]) => Number(passed) + Number(failed) > 0)
    .map((match) => match[1] ?? '');
}

/** What the suite itself says that the revision requires of a server. */
function required(revision: string): string[] {
  const { server } = parse(readFileSync(`${conformanceFolder}requirements/${revision}.yaml`, 'utf8')) as {
    server: string[];
  };
  expect(server.length).toBeGreaterThan(20);
  return server;
}
