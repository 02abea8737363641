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

type Attempt = Changed | NotChanged | { kind: 'nobody' } | { kind: 'lost'; worker: string };

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
    { signal, onStep }: StepOptions,
  ): Promise<Changed | NotChanged> {
    const began = performance.now();
    let failures = 0;
    for (let lost = 0; ; ) {
      signal?.throwIfAborted();
      const attempt = await this.#attempt(operation, from, {
        ...(signal && { signal }),
        ...(onStep && { onStep }),
      });
      signal?.throwIfAborted();
      if (attempt.kind === 'done') return attempt;
      if (attempt.kind === 'failed') {
        failures += 1;
        if (!isOfMachine(attempt) || failures >= this.link.workers.mostAttempts) return attempt;
        onStep?.('The worker cannot install packages: another one may.');
        continue;
      }
      if (attempt.kind === 'lost') {
        lost += 1;
        if (lost === MOST_LOST) throw lostError(attempt.worker);
        onStep?.(`The worker ${attempt.worker} was lost: another one begins again.`);
      } else if (performance.now() - began > CHANGE_WAIT_MS) throw nobody();
      else await pause(OFFER_AGAIN_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }

  async #attempt(
    operation: Operation,
    from: EntryRef | undefined,
    { signal, onStep }: StepOptions,
  ): Promise<Attempt> {
    const { front, subjects, workers } = this.link;
    const { promise, resolve } = deferred<Attempt>();
    const cleanUp: (() => void)[] = [];
    const timer = setTimeout(() => resolve({ kind: 'nobody' }), OFFER_MS);
    const onTaken = (worker: WorkerKey) => {
      if (cleanUp.length > 0) return;
      clearTimeout(timer);
      const { token } = listening;
      const again = setInterval(() => this.link.order(worker, 'poll', { token }), AGAIN_MS);
      cleanUp.push(
        workers.watch(worker, { onLost: () => resolve({ kind: 'lost', worker: worker.worker }) }),
        () => clearInterval(again),
        () => this.link.order(worker, 'dismiss', { token }),
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
      this.link.send(subjects.change, request, listening.subject);
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
