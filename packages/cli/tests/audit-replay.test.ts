import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Replay } from '../../core/src/contract/audit.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import { openWorld } from './environments.js';

const world = await openWorld();
const folder = mkdtempSync(join(tmpdir(), 'test-audit-replay-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const env = { AUDIT: 'true', AUDIT_DIR: join(folder, 'audit') };

const VERSION = 'import importlib.metadata as m; print(m.version("apple"))';

test('a replay has the packages of then, though its environment has others now, or is gone', async () => {
  await world.run(['env', 'create', 'fruit', 'apple<2'], { env });
  const ran = await world.run(['run', '--env', 'fruit', '--json', '-c', VERSION], { env });
  const { runId, stdout } = JSON.parse(ran.stdout) as Outcome;
  expect(stdout.text).toBe('1.1\n');
  const replay = async () => {
    const ended = await world.run(['audit', 'replay', runId, '--json'], { env });
    return JSON.parse(ended.stdout) as Replay;
  };

  await world.run(['env', 'install', 'fruit', 'apple>=2', '--upgrade'], { env });
  expect((await world.run(['run', '--env', 'fruit', '-c', VERSION], { env })).stdout).toBe('2.0\n');
  expect(await replay()).toMatchObject({ same: true, outcome: { stdout: { text: '1.1\n' } } });

  await world.run(['env', 'delete', 'fruit', '--yes'], { env });
  expect(await replay()).toMatchObject({ same: true, outcome: { stdout: { text: '1.1\n' } } });

  // A lock file that was tampered with is not installed from.
  const locks = join(folder, 'audit', 'locks');
  for (const name of readdirSync(locks)) writeFileSync(join(locks, name), 'apple==2.0\n');
  const refused = await world.run(['audit', 'replay', runId], { env });
  expect(refused).toMatchObject({ status: 74, stderr: expect.stringContaining('does not have its hash') });
  expect(await world.run(['audit', 'verify'], { env })).toMatchObject({ status: 74 });
});
