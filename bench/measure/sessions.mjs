// Opens every contender for one workload, and closes them all again, whatever happens in between.
import { Unavailable } from '../unavailable.mjs';

/** Gives `use` the contenders that are there, each with its session, and those that are not, each with the reason. */
export async function withSessions(contenders, workload, use) {
  const open = [];
  const skipped = [];
  try {
    for (const contender of contenders) {
      try {
        open.push({ ...contender, session: await contender.open(workload) });
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        skipped.push({ ...contender, skipped: error.message });
      }
    }
    return await use(open, skipped);
  } finally {
    await Promise.all(open.map(({ session }) => session.close()));
  }
}

/** One run, timed and checked: a fast wrong answer is no result. */
export async function timedRun(session, { expected }) {
  const started = performance.now();
  const printed = await session.run();
  const took = performance.now() - started;
  if (printed !== expected)
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(printed)}`);
  await session.afterwards?.();
  return took;
}
