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

/** Scenarios that the suite runs without scoring them, and why they fail here. Nothing that it scores may fail. */
const EXPECTED_FAILURES: Record<string, string> = Object.fromEntries(
  [
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-required-task-error',
    'tasks-mrtr-composition',
  ].map((scenario) => [scenario, 'Tasks are an extension of the protocol, which Pungi does not offer.']),
);

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

test.each(['2025-11-25', '2026-07-28'])(
  'the official suite finds the server conforming to %s',
  async (revision) => {
    const args = ['server', '--url', door.url, '--requirements', revision, '--output-dir', results];
    const { code, stdout } = await run(judgeNode, [conformanceCli, ...args], { cwd: results }).then(
      (ended) => ({ code: 0, ...ended }),
      (failed: { code: number; stdout: string }) => failed,
    );
    const passed = scenarios(stdout, '✓');
    const failed = scenarios(stdout, '✗');
    expect(failed.filter((scenario) => !(scenario in EXPECTED_FAILURES))).toEqual([]);
    expect(required(revision).filter((scenario) => !passed.includes(scenario))).toEqual([]);
    expect(code).toBe(0);
  },
  180_000,
);

/** The lines of the summary: a mark, the scenario, and how many checks passed and failed. */
function scenarios(report: string, mark: string): string[] {
  return [...report.matchAll(new RegExp(`^${mark} (\\S+): \\d+ passed, \\d+ failed`, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

/** What the suite itself says that the revision requires of a server. */
function required(revision: string): string[] {
  const { server } = parse(readFileSync(`${conformanceFolder}requirements/${revision}.yaml`, 'utf8')) as {
    server: string[];
  };
  expect(server.length).toBeGreaterThan(20);
  return server;
}
