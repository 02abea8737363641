// Measures many concurrent runs until the rate is steady.
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../statistics.mjs';
import { timedRun, withSessions } from './sessions.mjs';

/** Workers that were parked beforehand are used up in this time, which is not counted. */
const RUN_UP_MS = 300;

/** Measures the runs per second of each contender with `concurrency` active runs; the median of the rounds. */
export function measureSustained(contenders, workload, settings) {
  const { concurrency } = settings;
  const env = { MAX_CONCURRENT_EXECUTIONS: `${concurrency}`, POOL_SIZE: `${concurrency}` };
  return withSessions(contenders, { ...workload, env }, async (open) => {
    const rates = new Map(open.map(({ id }) => [id, []]));
    for (let round = 0; round < settings.sustainedRounds; round += 1) {
      for (const { id, session } of open) {
        rates.get(id).push(await rateOf(session, workload, settings));
        await pause(settings.settleMs * 4);
      }
    }
    return new Map([...rates].map(([id, measured]) => [id, median(measured)]));
  });
}

async function rateOf(session, workload, { concurrency, sustainedMs }) {
  const countFrom = performance.now() + RUN_UP_MS;
  const until = countFrom + sustainedMs[workload.name];
  let runs = 0;
  const worker = async () => {
    while (performance.now() < until) {
      await timedRun(session, workload);
      if (performance.now() >= countFrom) runs += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (runs * 1000) / (performance.now() - countFrom);
}
