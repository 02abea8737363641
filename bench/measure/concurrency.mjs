// Measures the rate of each contender over the number of runs that are under way at a time, for the chart.
import { setTimeout as pause } from 'node:timers/promises';
import { withSessions } from './sessions.mjs';
import { rateOf } from './sustained.mjs';

const LEVELS = [1, 2, 4, 8, 16, 32, 64];
/**
 * Contenders that take a second for a run are measured at fewer levels: they have long filled the processors at 16, and 64 kernels at
 * once do not start within their own timeout.
 */
const SLOW_LEVELS = [1, 4, 16];

/** Returns a line for each contender: its name and runs per second by level. */
export async function measureConcurrency(
  contenders,
  workload,
  { isQuick, levelMs, settleMs },
  say = () => {},
) {
  const lines = new Map();
  for (const concurrency of isQuick ? [1, 8] : LEVELS) {
    say(`${workload.name}: ${concurrency} at once …`);
    for (const contender of contenders) {
      if (contender.isSlow && !SLOW_LEVELS.includes(concurrency)) continue;
      const rate = await rateAt(contender, workload, { concurrency, levelMs, settleMs }).catch((error) => {
        if (!contender.isSlow) throw error;
        say(`${contender.name}, ${concurrency} at once: ${error.message}`);
      });
      if (rate === undefined) continue;
      const { id, name } = contender;
      if (!lines.has(id)) lines.set(id, { id, name, points: [] });
      lines.get(id).points.push({ concurrency, rate });
    }
  }
  return [...lines.values()];
}

/** Only the number of concurrent runs is configured; by default as many workers are parked as there are cores. */
function rateAt(contender, workload, { concurrency, levelMs, settleMs }) {
  const env = { MAX_CONCURRENT_EXECUTIONS: `${Math.max(concurrency, 5)}` };
  const wanted = contender.isSerial ? concurrency : 1;
  const several = Array.from({ length: wanted }, () => contender);
  return withSessions(several, { ...workload, env }, async (open) => {
    if (open.length === 0) return undefined;
    const sessions = open.map(({ session }) => session);
    const rate = await rateOf(sessions, workload, { concurrency, forMs: contender.isSlow ? 0 : levelMs });
    await pause(settleMs);
    return rate;
  });
}
