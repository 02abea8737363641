import { expect, test } from 'vitest';
import { until } from '../../../tests/support/until.js';
import { pack } from '../src/protocol/messages.js';
import { LyingWorker } from './lying-worker.js';
import { SecureCluster } from './secure-cluster.js';

test('a worker that takes an offer and prepares for ever does not keep the run from taking place', async () => {
  const cluster = await SecureCluster.start();
  await cluster.worker('worker-1', { MAX_CONCURRENT_EXECUTIONS: '1' });
  const watcher = await cluster.backend();
  const honest = await until(() => watcher.workers[0], 'it is heard');
  let taken = 0;
  const liar = new LyingWorker(await cluster.connect('worker-2'), 'worker-2', honest, {
    offer: (self, { front, token }) => {
      taken += 1;
      // Once for all: the honest one has the next offers, sooner or later.
      if (taken === 1) self.send(front, token, pack({ kind: 'taken', ...self.key }));
      else self.send(front, token, pack({ kind: 'refused', reason: 'full', message: 'full', ...self.key }));
    },
  });
  const pungi = await cluster.front(2);
  const outcomes = [];
  // Only what finds no room is offered.
  while (taken === 0)
    outcomes.push(...(await Promise.all(Array.from({ length: 4 }, () => pungi.run({ code: '6 * 7' })))));
  expect(outcomes.map(({ value }) => value?.json)).toEqual(outcomes.map(() => 42));
  await liar.stop();
  await watcher.close();
  await cluster.stop();
}, 120_000);
