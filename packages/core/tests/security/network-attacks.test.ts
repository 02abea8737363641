import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, test } from 'vitest';
import { fixture, requestOf, type User } from './attack.js';
import { judge } from './judge.js';
import { NETWORK_ATTACKS } from './network-attacks.js';
import { buildStage, identityOf, runnerFolder, USERS } from './stage.js';
import type { RowResult, TableRun } from './table-run.js';

const stage = await buildStage('network-attack-runner');
afterAll(() => stage.remove());

async function play(user: User): Promise<Map<string, RowResult>> {
  const folder = runnerFolder(stage, 'namespace', user);
  const table: TableRun = {
    tier: 'namespace',
    python: stage.python,
    folder,
    secretFiles: [],
    secretFolders: [],
    canary: stage.canary,
    victimCode: fixture('network_victim.py'),
    rows: NETWORK_ATTACKS.map((attack) => ({
      name: attack.name,
      request: requestOf(attack),
      victim: attack.victim ?? false,
      bystander: false,
      cancelAfterMs: null,
    })),
  };
  const child = spawn(stage.node, [stage.runner], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      PUNGI_DATA_DIR: join(folder, 'data'),
    },
    ...identityOf(user),
  });
  child.stdin.end(JSON.stringify(table));
  const lines = (await text(child.stdout)).split('\n').filter((line) => line.includes('"name"'));
  return new Map(lines.map((line) => JSON.parse(line) as RowResult).map((row) => [row.name, row]));
}

test('every attack of the network has a name of its own', () => {
  expect(new Set(NETWORK_ATTACKS.map(({ name }) => name)).size).toBe(NETWORK_ATTACKS.length);
});

/** Only the namespace tier has a network to give. */
describe.each(USERS)('attacks of runs with a network, started as %s', (user) => {
  const playing = play(user);

  test.for(NETWORK_ATTACKS.map((attack) => [attack.name, attack] as const))(
    '%s',
    { timeout: 240_000 },
    async ([name, attack]) => {
      const result = (await playing).get(name);
      if (!result) throw new Error('The runner ended before this row.');
      expect(judge(attack, 'namespace', stage.canary, result)).toEqual([]);
    },
  );
});
