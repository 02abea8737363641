import { setTimeout as pause } from 'node:timers/promises';
import { PungiError } from '@pungi/core/base';
import type { StepOptions } from '@pungi/core/contract';
import { HAS_RUNS, inUse, SHORT_WAIT_MS } from '@pungi/core/environments';
import { deferred } from '../deferred.js';
import { UsageAnswer } from '../protocol/environments.js';
import { parse } from '../protocol/messages.js';
import type { WorkerKey } from '../protocol/subjects.js';
import { AGAIN_MS, LOOK_MS, OVERDUE_MS } from '../protocol/timing.js';
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
    const counts = await Promise.all(link.workers.all.map((worker) => usageOf(link, worker, name, signal)));
    if (counts.every((count) => count === 0)) return;
    if (!wait && performance.now() - began > SHORT_WAIT_MS) throw inUse(name, HAS_RUNS);
    if (isFirst) onStep?.(`Waiting until the environment "${name}" is not in use.`);
    await pause(LOOK_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** A worker that is lost uses nothing. One that is heard and does not answer is waited for no longer than NATS is. */
async function usageOf(
  link: FrontLink,
  worker: WorkerKey,
  environment: string,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { promise, resolve } = deferred<number | Error>();
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
    onOutage: () => resolve(unknown('NATS cannot be reached')),
  });
  const again = setInterval(ask, AGAIN_MS);
  const late = setTimeout(() => resolve(unknown(`the worker ${worker.worker} does not answer`)), OVERDUE_MS);
  const abort = () => resolve(signal!.reason as Error);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    ask();
    const answer = await promise;
    if (answer instanceof Error) throw answer;
    return answer;
  } finally {
    clearInterval(again);
    clearTimeout(late);
    signal?.removeEventListener('abort', abort);
    unwatch();
    listening.stop();
  }
}

const unknown = (why: string) =>
  new PungiError(
    'SERVER_BUSY',
    `It is not known whether the environment is in use, because ${why}. Nothing has changed; try again shortly.`,
  );
