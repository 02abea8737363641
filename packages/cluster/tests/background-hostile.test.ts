import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import type { Pungi } from '../../core/src/pungi.js';
import { TestCluster } from './cluster.js';

let cluster: TestCluster;
beforeEach(async () => {
  cluster = await TestCluster.start();
  await cluster.worker([], { MAX_CONCURRENT_EXECUTIONS: '4' });
});
afterEach(async () => {
  await cluster.stop();
});

const caller = { client: 'somebody' };
const SLEEP = 'import time\ntime.sleep(600)';
const LONG = { code: SLEEP, limits: { timeoutMs: 900_000 } };

async function ended(at: Pungi, run: string) {
  const found = await until(
    async () => {
      const seen = await at.getRun(run, { waitMs: 5000, caller });
      return seen.outcome && seen;
    },
    'the run has ended',
    60_000,
  );
  return found.outcome!;
}

/** The first front end has no turn for a background run: another one runs what it accepts. */
async function occupy(front: Pungi, profile?: string): Promise<void> {
  const busy = { client: 'busy' };
  const named = profile === undefined ? {} : { profile };
  const { session } = await front.run({ code: '1', session: 'new', ...named }, { caller: busy });
  const { run } = await front.runInBackground({ ...LONG, ...named, session: session!.id }, { caller: busy });
  await until(
    async () => (await front.getRun(run, { caller: busy })).state === 'running',
    'the front end is busy',
  );
}

test('a run has the profile of the front end that accepted it, whichever runs it', async () => {
  const profilesFile = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profilesFile, 'profiles:\n  locked:\n    blocked_imports: [os]\n  open: {}\n');
  const one = { profilesFile, maxConcurrentExecutions: 2 };
  const strict = await cluster.front({ ...one, defaultProfile: 'locked' });
  await occupy(strict, 'open');
  await cluster.front({ ...one, defaultProfile: 'open' });
  const { run } = await strict.runInBackground({ code: 'import os' }, { caller });
  expect(await ended(strict, run)).toMatchObject({ profile: 'locked', verdict: { kind: 'denied' } });
});

test('a front end refuses a profile that another one allows', async () => {
  const profilesFile = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profilesFile, 'profiles:\n  locked:\n    blocked_imports: [os]\n  open: {}\n');
  await cluster.front({ profilesFile });
  const strict = await cluster.front({ profilesFile, defaultProfile: 'locked', allowedProfiles: ['locked'] });
  for (let n = 0; n < 4; n += 1) {
    const { run } = await strict.runInBackground({ code: 'import os', profile: 'open' }, { caller });
    expect((await ended(strict, run)).verdict.kind).toBe('denied');
  }
});
