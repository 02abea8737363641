// Opens every contender for one workload, and closes them all again, whatever happens in between.
import { Unavailable } from '../unavailable.mjs';

/** Passes to `use` the available contenders, each with its session, and the others, each with the reason. */
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

/** Times and checks one run: a fast wrong answer is not a result. */
export async function timedRun(session, { expected }) {
  const started = performance.now();
  const printed = await session.run();
  const took = performance.now() - started;
  if (printed !== expected)
    throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(printed)}`);
  await session.afterwards?.();
  return took;
}
