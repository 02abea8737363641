import { setTimeout as pause } from 'node:timers/promises';
import { ERROR_CODES, type ErrorCode, PungiError } from '@pungi/core/base';
import type { StepOptions } from '@pungi/core/contract';
import { deferred } from '../deferred.js';
import { ChangeAnswer, type EntryRef, type Operation } from '../protocol/environments.js';
import { parse } from '../protocol/messages.js';
import type { WorkerKey } from '../protocol/subjects.js';
import { AGAIN_MS, CHANGE_WAIT_MS, OFFER_AGAIN_MS, OFFER_MS } from '../protocol/timing.js';
import { PROTOCOL } from '../protocol/version.js';
import type { FrontLink } from './link.js';

export type Changed = Extract<ChangeAnswer, { kind: 'done' }>;
export type NotChanged = Extract<ChangeAnswer, { kind: 'failed' }>;

type Attempt = (Changed | NotChanged | { kind: 'nobody' } | { kind: 'lost' }) & { worker?: WorkerKey };

interface Asked {
  operation: Operation;
  from: EntryRef | undefined;
  to: WorkerKey | undefined;
}

/** Workers that may be lost while they make the same change. */
const MOST_LOST = 3;

/**
 * Asks workers to make and change environments. A request has no effect until what it returns is stored, so another worker gets
 * it if the first one is lost.
 */
export class ChangeRequests {
  constructor(private readonly link: FrontLink) {}

  /** Rejects with SERVER_BUSY if there is no worker, or with the signal's reason. */
  async make(
    operation: Operation,
    from: EntryRef | undefined,
    options: StepOptions,
  ): Promise<Changed | NotChanged> {
    const { signal, onStep } = options;
    const began = performance.now();
    /** By name: a hostile worker can make up starts. */
    const tried = new Set<string>();
    /** Of a worker that cannot make such changes. Then the others are asked one by one: NATS might choose the same one again. */
    let failure: NotChanged | undefined;
    for (let lost = 0; ; ) {
      signal?.throwIfAborted();
      const to = failure && this.#untried(tried);
      if (failure && to === undefined) return failure;
      if (to) onStep?.('The worker cannot install packages: another one may.');
      const attempt = await this.#attempt({ operation, from, to }, options);
      signal?.throwIfAborted();
      if (attempt.kind === 'done') return attempt;
      if (attempt.worker) tried.add(attempt.worker.worker);
      if (attempt.kind === 'failed') {
        if (!isOfMachine(attempt)) return attempt;
        failure = attempt;
      } else if (attempt.kind === 'lost') {
        const { worker } = attempt.worker!;
        lost += 1;
        if (lost === MOST_LOST) throw lostError(worker);
        onStep?.(`The worker ${worker} was lost: another one begins again.`);
      } else if (failure === undefined) {
        if (performance.now() - began > CHANGE_WAIT_MS) throw nobody();
        await pause(OFFER_AGAIN_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
      }
    }
  }

  #untried(tried: ReadonlySet<string>): WorkerKey | undefined {
    return this.link.workers.all.find(({ state, worker }) => state !== 'draining' && !tried.has(worker));
  }

  /** Asks one worker, or any that NATS chooses. */
  async #attempt({ operation, from, to }: Asked, { signal, onStep }: StepOptions): Promise<Attempt> {
    const { front, subjects, workers } = this.link;
    const { promise, resolve: settle } = deferred<Attempt>();
    let worker = to;
    const resolve = (attempt: Attempt) => settle({ ...attempt, ...(worker && { worker }) });
    const cleanUp: (() => void)[] = [];
    const timer = setTimeout(() => resolve({ kind: 'nobody' }), OFFER_MS);
    const onTaken = (taker: WorkerKey) => {
      if (cleanUp.length > 0) return;
      worker = taker;
      clearTimeout(timer);
      const { token } = listening;
      const again = setInterval(() => this.link.order(taker, 'poll', { token }), AGAIN_MS);
      cleanUp.push(
        workers.watch(taker, { onLost: () => resolve({ kind: 'lost' }) }),
        () => clearInterval(again),
        () => this.link.order(taker, 'dismiss', { token }),
      );
    };
    const listening = this.link.replies.listen({
      onNobody: () => resolve({ kind: 'nobody' }),
      onMessage: (message) => {
        const answer = parse(ChangeAnswer, message);
        if (answer?.kind === 'taken') onTaken(answer);
        else if (answer?.kind === 'step') onStep?.(answer.message, answer.share);
        else if (answer) resolve(answer);
      },
    });
    const abort = () => resolve({ kind: 'nobody' });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      const request = { v: PROTOCOL, front, token: listening.token, operation, ...(from && { from }) };
      this.link.send(to ? subjects.order(to, 'change') : subjects.change, request, listening.subject);
      return await promise;
    } finally {
      clearTimeout(timer);
      for (const one of cleanUp) one();
      listening.stop();
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** It lacks uv, or reaches no package index: another machine may be better off. */
const isOfMachine = ({ code, details }: NotChanged): boolean =>
  code === 'TOOL_UNAVAILABLE' || Array.isArray(details['unreachable']);

/** The error that a worker has reported. */
export function errorOf({ code, message, details }: NotChanged): PungiError {
  const isKnown = (ERROR_CODES as readonly string[]).includes(code);
  return new PungiError(isKnown ? (code as ErrorCode) : 'INTERNAL_ERROR', message, details);
}

const nobody = () =>
  new PungiError(
    'SERVER_BUSY',
    'No worker of the cluster took the change, and nothing has changed; try again shortly, or start one with pungi worker.',
  );

const lostError = (worker: string) =>
  new PungiError(
    'INTERNAL_ERROR',
    `The worker ${worker} was lost during the change, as were others before it; nothing has changed.`,
  );
