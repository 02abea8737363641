// Measures one run after the other, in rounds: in each round every contender gets a batch, so that noise affects all
// alike.
import { setTimeout as pause } from 'node:timers/promises';
import { summarize } from '../statistics.mjs';
import { timedRun, withSessions } from './sessions.mjs';

/** A contender that takes seconds for a run is measured only in every fourth round. */
const SLOW_EVERY = 4;

/** Measures the latency of each contender with a gap between two calls, as agents call, and back to back. */
export function measureLatency(contenders, workload, settings) {
  return withSessions(contenders, workload, async (open, skipped) => {
    const samples = new Map(open.map(({ id }) => [id, { gap: [], backToBack: [] }]));
    for (const { session } of open) await warmUp(session, workload, settings);
    for (let round = 0; round < settings.rounds; round += 1) {
      for (const { id, session, isSlow } of open) {
        if (isSlow && round % SLOW_EVERY !== 0) continue;
        await batch(session, workload, samples.get(id).gap, settings, settings.gapMs);
        // The gap makes no difference to a run that takes seconds.
        if (!isSlow) await batch(session, workload, samples.get(id).backToBack, settings, 0);
      }
    }
    const measured = open.map(({ id, name }) => {
      const { gap, backToBack } = samples.get(id);
      return { id, name, gap: summarize(gap), backToBack: summarize(backToBack) };
    });
    return [...measured, ...skipped];
  });
}

/** Warms compilers, caches and pools; the time is not counted. */
async function warmUp(session, workload, { batchMs, settleMs }) {
  await timedRun(session, workload);
  const until = performance.now() + batchMs;
  while (performance.now() < until) await timedRun(session, workload);
  await pause(settleMs);
}

async function batch(session, workload, samples, { batchMs, settleMs }, gapMs) {
  const until = performance.now() + batchMs;
  do {
    samples.push(await timedRun(session, workload));
    if (gapMs > 0) await pause(gapMs);
  } while (performance.now() < until);
  await pause(settleMs);
}
