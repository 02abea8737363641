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
        const forMs = settings.sustainedMs[workload.name];
        rates.get(id).push(await rateOf([session], workload, { concurrency, forMs }));
        await pause(settings.settleMs * 4);
      }
    }
    return new Map([...rates].map(([id, measured]) => [id, median(measured)]));
  });
}

/** Keeps `concurrency` runs under way, at least one for each slot. The slots are spread over the sessions. */
export async function rateOf(sessions, workload, { concurrency, forMs }) {
  const runUpMs = forMs === 0 ? 0 : RUN_UP_MS;
  const countFrom = performance.now() + runUpMs;
  const until = countFrom + forMs;
  let runs = 0;
  const slot = async (_, index) => {
    do {
      await timedRun(sessions[index % sessions.length], workload);
      if (performance.now() >= countFrom) runs += 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: concurrency }, slot));
  return (runs * 1000) / (performance.now() - countFrom);
}
