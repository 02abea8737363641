import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPackageIndex } from '../../../tests/support/package-index.js';
import { temporaryFolder } from '../../../tests/support/places.js';
import { until } from '../../../tests/support/until.js';
import type { Outcome } from '../../core/src/contract/outcome.js';
import type { RunRequest } from '../../core/src/contract/run.js';
import type { Pungi } from '../../core/src/pungi.js';
import { environmentCluster, eventsOf, VERSION } from './environment-cluster.js';

const world = environmentCluster();

const ONE = { MAX_CONCURRENT_EXECUTIONS: '1' };
const WAITS = 'print("begun", flush=True)\nimport sys\nwhile True: pass';

/** Resolves once the code has printed something, to the promise of its outcome. */
async function begin(
  pungi: Pungi,
  request: RunRequest,
  stop: AbortController,
): Promise<{ ended: Promise<Outcome> }> {
  let ended!: Promise<Outcome>;
  await new Promise<void>((begun) => {
    ended = pungi.run(request, { signal: stop.signal, onLine: () => begun() });
  });
  return { ended };
}

test('runs go to a worker that has the environment, and all that need it share one build', async () => {
  const workers = [await world.cluster.worker(), await world.cluster.worker()];
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  await until(async () => (await pungi.environments.show('ml')).warmOn?.length === 1, 'one worker has it');
  const [warm] = (await pungi.environments.show('ml')).warmOn!;
  for (let run = 0; run < 10; run += 1)
    expect((await pungi.run({ code: VERSION, venvName: 'ml' })).value?.json).toBe('1.0');
  const starts = workers.map((worker) => eventsOf(worker, 'started').length);
  expect(starts).toEqual(workers.map(({ name }) => (name === warm ? 10 : 0)));
  expect(workers.flatMap((worker) => eventsOf(worker, 'built'))).toEqual([]);
});

test('while the workers that have an environment stay busy, another one builds it, once', async () => {
  const first = await world.cluster.worker([], ONE);
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  await until(async () => (await pungi.environments.show('ml')).warmOn?.length === 1, 'the worker has it');
  const stop = new AbortController();
  const { ended } = await begin(pungi, { code: WAITS, venvName: 'ml' }, stop);
  const second = await world.cluster.worker();
  const runs = [1, 2, 3].map(() => pungi.run({ code: VERSION, venvName: 'ml', limits: { timeoutMs: 2000 } }));
  expect((await Promise.all(runs)).map(({ value }) => value?.json)).toEqual(['1.0', '1.0', '1.0']);
  expect(eventsOf(second, 'built')).toHaveLength(1);
  expect(eventsOf(first, 'started')).toHaveLength(1);
  stop.abort();
  await ended;
  await until(
    async () => `${(await pungi.environments.show('ml')).warmOn}` === 'w1,w2',
    'both workers have it',
  );
});

test('the time in which an environment is built does not count', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  first.signal('SIGTERM');
  await first.running.ended;
  await world.cluster.worker([], ONE);
  world.index.hang(true);
  const before = world.index.requests.length;
  const limits = { timeoutMs: 1500 };
  const run = pungi.run({ code: VERSION, venvName: 'ml', limits });
  await until(() => world.index.requests.length > before, 'the worker asks the index');
  // Meanwhile the only slot is free for others; one that waits for it as long as the run may take does not get it.
  const stop = new AbortController();
  const { ended } = await begin(pungi, { code: WAITS }, stop);
  expect((await pungi.run({ code: '1', limits })).verdict.kind).toBe('busy');
  stop.abort();
  await ended;
  world.index.hang(false);
  expect(await run).toMatchObject({ verdict: { kind: 'ok' }, value: { json: '1.0' } });
});

test('packages whose files are not those of the lock are refused', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  first.signal('SIGTERM');
  await first.running.ended;
  const forged = await startPackageIndex([
    { name: 'apple', version: '1.0', files: { 'apple.py': "__version__ = 'forged'\n" } },
  ]);
  try {
    const second = await world.cluster.worker([], forged.env);
    const { verdict } = await pungi.run({ code: VERSION, venvName: 'ml' });
    expect(verdict).toMatchObject({ kind: 'no-environment', code: 'PACKAGE_INSTALLATION_ERROR' });
    expect(eventsOf(second, 'started')).toEqual([]);
  } finally {
    await forged.stop();
  }
});

test('a worker that reaches no package index leaves changes and builds to others', async () => {
  const dead = 'http://127.0.0.1:9/simple';
  const without = { UV_DEFAULT_INDEX: dead, UV_INDEX_URL: dead, PIP_INDEX_URL: dead };
  const helpless = await world.cluster.worker([], without);
  const first = await world.cluster.worker();
  const pungi = await world.front();
  const versions = ['1.0', '1.1', '2.0'];
  for (const version of versions) {
    const steps: string[] = [];
    await pungi.environments.create(
      { venvName: `v${version[0]}${version[2]}`, packages: [`apple==${version}`] },
      { onStep: (step) => steps.push(step) },
    );
    const passedOn = steps.filter((step) => step === 'The worker cannot install packages: another one may.');
    expect(passedOn.length, 'a worker that cannot is not asked twice').toBeLessThanOrEqual(1);
  }
  first.signal('SIGTERM');
  await first.running.ended;
  const second = await world.cluster.worker();
  const other = await world.front();
  for (const version of versions) {
    const outcome = await other.run({ code: VERSION, venvName: `v${version[0]}${version[2]}` });
    expect(outcome).toMatchObject({ verdict: { kind: 'ok' }, value: { json: version } });
  }
  expect(eventsOf(second, 'built')).toHaveLength(3);
  expect(eventsOf(helpless, 'started')).toEqual([]);
});

test('inline dependencies and packages of a request or a profile lead to the same environment', async () => {
  await world.cluster.worker();
  await world.cluster.worker();
  const profilesFile = join(temporaryFolder(), 'profiles.yaml');
  writeFileSync(profilesFile, 'profiles:\n  fruity:\n    packages: [apple==1.0]\n');
  const [one, other] = [await world.front(), await world.front({ profilesFile })];
  const inline = '# /// script\n# dependencies = ["apple==1.0"]\n# ///\n';
  const first = await one.run({ code: `${inline}${VERSION}` });
  expect(first).toMatchObject({ verdict: { kind: 'ok' }, value: { json: '1.0' } });
  expect(first.usage.installMs).toBeGreaterThan(0);
  const before = world.index.requests.length;
  expect((await other.run({ code: VERSION, packages: ['apple==1.0'] })).value?.json).toBe('1.0');
  expect((await other.run({ code: VERSION, profile: 'fruity' })).value?.json).toBe('1.0');
  expect(world.index.requests.slice(before)).toEqual([]);
  const made = (await other.environments.list()).filter(({ isInline }) => isInline);
  expect(made).toHaveLength(1);
});

test('an environment in use is not deleted, or only when its runs have ended', async () => {
  await world.cluster.worker();
  const [one, other] = [await world.front(), await world.front()];
  await one.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  const stop = new AbortController();
  const { ended } = await begin(one, { code: WAITS, venvName: 'ml' }, stop);
  const request = { venvName: 'ml', confirm: true };
  await expect(other.environments.delete(request)).rejects.toMatchObject({
    code: 'ENVIRONMENT_IN_USE',
    message: expect.stringContaining('"ml" is in use'),
  });
  const steps: string[] = [];
  const deleted = other.environments.delete(
    { ...request, wait: true },
    { onStep: (step) => steps.push(step) },
  );
  await until(() => steps.includes('Waiting until the environment "ml" is not in use.'), 'it waits');
  stop.abort();
  await ended;
  await deleted;
  const { verdict } = await one.run({ code: VERSION, venvName: 'ml' });
  expect(verdict).toMatchObject({ kind: 'no-environment', code: 'ENVIRONMENT_NOT_FOUND' });
});

test('a worker whose disk limit is reached removes what was not used for the longest time', async () => {
  const worker = await world.cluster.worker(['--worker-disk-mb', '70']);
  const pungi = await world.front();
  const warm = async () =>
    (await pungi.environments.list()).filter(({ isWarm }) => isWarm).map(({ venvName }) => venvName);
  const runIn = async (name: string) =>
    expect((await pungi.run({ code: '1', venvName: name })).verdict).toEqual({ kind: 'ok' });
  // Each has 30 MB.
  await pungi.environments.create({ venvName: 'one', packages: ['native-free'] });
  await pungi.environments.create({ venvName: 'two', packages: ['native-free', 'apple==1.0'] });
  await until(async () => `${await warm()}` === 'one,two', 'the worker has both');
  await runIn('one');
  const stop = new AbortController();
  await pungi.environments.create({ venvName: 'three', packages: ['native-free', 'apple==1.1'] });
  await until(async () => `${await warm()}` === 'one,three', 'the worker has removed one that was not used');
  const { ended } = await begin(pungi, { code: WAITS, venvName: 'one' }, stop);
  await runIn('two');
  await until(async () => `${await warm()}` === 'one,two', 'one that is in use stays');
  expect(eventsOf(worker, 'built')).toMatchObject([{ environment: 'two' }]);
  stop.abort();
  await ended;
});

test('a worker that may hold no session builds no environment for one', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create({ venvName: 'ml', packages: ['apple==1.0'] });
  const other = await world.cluster.worker([], { MAX_SESSIONS: '0' });
  first.signal('SIGTERM');
  await first.running.ended;
  const { verdict } = await pungi.run({ code: VERSION, venvName: 'ml', session: 'new' });
  expect(verdict).toMatchObject({ kind: 'busy', message: expect.stringMatching(/MAX_SESSIONS/) });
  expect(eventsOf(other, 'built')).toEqual([]);
});
