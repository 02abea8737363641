import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { AttackTier, User } from './attack.js';
import { buildStage, identityOf, REPOSITORY, runnerFolder, type Stage, USERS } from './stage.js';
import type { WrappedRowResult, WrappedTableRun } from './wrapped-attack-runner.js';

const TIERS: AttackTier[] = ['namespace', 'landlock'];
const TABLE_TIMEOUT_MS = 900_000;
const SCRIPTS = fileURLToPath(new URL('./fixtures/wrapped/', import.meta.url));

interface Played {
  rows: Map<string, WrappedRowResult>;
  /** Processes alive after the server had ended. */
  survivors: string[] | undefined;
}

/** All of it belongs to the user who runs the server, and is open to everybody: only the sandbox keeps scripts out. */
function layFolders({ canary }: Stage, folder: string, owner: number | undefined) {
  const [toolsFolder, auditFolder] = [join(folder, 'tools'), join(folder, 'audit')];
  cpSync(SCRIPTS, toolsFolder, { recursive: true, filter: (path) => !path.includes('__pycache__') });
  const till = join(toolsFolder, 'till.py');
  writeFileSync(till, readFileSync(till, 'utf8').replace('$CANARY', canary));
  mkdirSync(join(auditFolder, 'keys'), { recursive: true });
  for (const name of ['audit.db', 'keys/signing.pem']) writeFileSync(join(auditFolder, name), canary);
  for (const path of [toolsFolder, auditFolder]) {
    execFileSync('chmod', ['-R', 'a+rwX', path]);
    if (owner !== undefined) execFileSync('chown', ['-R', `${owner}:${owner}`, path]);
  }
  return { toolsFolder, auditFolder };
}

async function play(stage: Stage, tier: AttackTier, user: User): Promise<Played> {
  const folder = runnerFolder(stage, tier, user);
  const identity = identityOf(user);
  const table: WrappedTableRun = {
    ...{ tier, python: stage.python, folder, canary: stage.canary, victimCode: '', rows: [] },
    ...layFolders(stage, folder, identity.uid),
    secretFiles: [`${REPOSITORY}/package.json`, stage.runner],
    secretFolders: [REPOSITORY, stage.folder],
  };
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: join(folder, 'home'),
    TMPDIR: join(folder, 'tmp'),
    PUNGI_DATA_DIR: join(folder, 'data'),
  };
  // The canary on the command line shows whether a call can see other processes.
  const child = spawn(stage.python, ['-I', stage.keeper, stage.node, stage.runner, stage.canary], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: folder,
    env: { ...env, SERVER_SECRET: stage.canary },
    ...identity,
  });
  child.stdin.end(JSON.stringify(table));
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '');
  const said = lines.map((line) => JSON.parse(line) as WrappedRowResult & { survivors?: string[] });
  return {
    rows: new Map(said.filter(({ name }) => name !== undefined).map((row) => [row.name, row])),
    survivors: said.find(({ survivors }) => survivors !== undefined)?.survivors,
  };
}

/** Declares a test for each row of a table, which its runner plays in every tier and as every user. */
export async function declareTable(
  title: string,
  runner: string,
  attacks: readonly { name: string }[],
): Promise<void> {
  const stage = await buildStage(runner);
  afterAll(() => stage.remove());

  test('every attack has a name of its own', () => {
    expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
  });

  describe
    .skipIf(process.platform !== 'linux')
    .each(TIERS.flatMap((tier) => USERS.map((user) => ({ tier, user }))))(
    `${title}: $tier as $user`,
    ({ tier, user }) => {
      const playing = process.platform === 'linux' ? play(stage, tier, user) : undefined;

      test.each(attacks)('$name', { timeout: TABLE_TIMEOUT_MS }, async ({ name }) => {
        const row = (await playing)?.rows.get(name);
        expect(row, 'the runner ended before this row').toBeDefined();
        expect(row!.problems).toEqual([]);
      });

      test('no process is left when the server has closed', { timeout: TABLE_TIMEOUT_MS }, async () => {
        expect((await playing)?.survivors).toEqual([]);
      });
    },
  );
}
