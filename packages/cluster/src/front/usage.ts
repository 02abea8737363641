import { setTimeout as pause } from 'node:timers/promises';
import { PungiError } from '@pungi/core/base';
import type { StepOptions } from '@pungi/core/contract';
import { HAS_RUNS, inUse, SHORT_WAIT_MS } from '@pungi/core/environments';
import { deferred } from '../deferred.js';
import { UsageAnswer } from '../protocol/environments.js';
import { parse } from '../protocol/messages.js';
import type { WorkerKey } from '../protocol/subjects.js';
import { AGAIN_MS, LOOK_MS } from '../protocol/timing.js';
import type { FrontLink } from './link.js';

/** Resolves at a moment when no worker uses the environment; without `wait`, ENVIRONMENT_IN_USE says that some do. */
export async function noRuns(
  link: FrontLink,
  name: string,
  { wait, signal, onStep }: StepOptions & { wait: boolean },
): Promise<void> {
  const began = performance.now();
  for (let isFirst = true; ; isFirst = false) {
    signal?.throwIfAborted();
    const counts = await Promise.all(link.workers.all.map((worker) => usageOf(link, worker, name)));
    if (counts.every((count) => count === 0)) return;
    if (!wait && performance.now() - began > SHORT_WAIT_MS) throw inUse(name, HAS_RUNS);
    if (isFirst) onStep?.(`Waiting until the environment "${name}" is not in use.`);
    await pause(LOOK_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** A worker that is lost uses nothing. */
async function usageOf(link: FrontLink, worker: WorkerKey, environment: string): Promise<number> {
  const { promise, resolve } = deferred<number | undefined>();
  const listening = link.replies.listen({
    onNobody: () => {},
    onMessage: (message) => {
      const answer = parse(UsageAnswer, message);
      if (answer) resolve(answer.claims);
    },
  });
  const ask = () => link.order(worker, 'usage', { token: listening.token, environment });
  const unwatch = link.workers.watch(worker, {
    onLost: () => resolve(0),
    onOutage: () => resolve(undefined),
  });
  const again = setInterval(ask, AGAIN_MS);
  try {
    ask();
    const claims = await promise;
    if (claims === undefined) throw unreached();
    return claims;
  } finally {
    clearInterval(again);
    unwatch();
    listening.stop();
  }
}

const unreached = () =>
  new PungiError(
    'SERVER_BUSY',
    'NATS cannot be reached, so it is not known whether the environment is in use, and nothing has changed; try again shortly.',
  );
