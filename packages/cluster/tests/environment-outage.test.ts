import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { environmentCluster, VERSION } from './environment-cluster.js';

// The NATS server is killed and does not come back: what is under way with environments ends all the same.

const world = environmentCluster();
const APPLE = { venvName: 'ml', packages: ['apple==1.0'] };

/** From now on the index does not answer. Returns what resolves when it was asked. */
function hangingIndex(): () => Promise<boolean> {
  world.index.hang(true);
  const before = world.index.requests.length;
  return () => until(() => world.index.requests.length > before, 'the worker asks the index');
}

test('a change that a worker makes ends with SERVER_BUSY', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  const isAsked = hangingIndex();
  const ended = expect(pungi.environments.create(APPLE)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
  await isAsked();
  await world.cluster.nats.kill();
  await ended;
});

test('a run for which a worker builds the environment ends with SERVER_BUSY', async () => {
  const first = await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create(APPLE);
  first.signal('SIGTERM');
  await first.running.ended;
  await world.cluster.worker();
  const isAsked = hangingIndex();
  const ended = pungi.run({ code: VERSION, venvName: 'ml', limits: { timeoutMs: 1500 } });
  await isAsked();
  await world.cluster.nats.kill();
  expect((await ended).verdict).toMatchObject({ kind: 'busy' });
});

test('deleting an environment that is in use ends with SERVER_BUSY', async () => {
  await world.cluster.worker();
  const pungi = await world.front();
  await pungi.environments.create(APPLE);
  const sleeps = { code: 'print(1, flush=True)\nimport time\ntime.sleep(60)', venvName: 'ml' };
  await new Promise<void>((begun) => void pungi.run(sleeps, { onLine: () => begun() }));
  let ended!: Promise<unknown>;
  await new Promise<void>((waits) => {
    const onStep = (step: string) => step.startsWith('Waiting until') && waits();
    ended = pungi.environments.delete({ venvName: 'ml', confirm: true, wait: true }, { onStep });
  });
  const refused = expect(ended).rejects.toMatchObject({ code: 'SERVER_BUSY' });
  await world.cluster.nats.kill();
  await refused;
});
