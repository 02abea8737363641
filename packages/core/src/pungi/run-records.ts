import type { AuditRecorder } from '../audit/recorder.js';
import { inputsOf } from '../audit/run-facts.js';
import { PungiError } from '../base/errors.js';
import type { EnvironmentLock } from '../contract/audit.js';
import type { Caller } from '../contract/caller.js';
import type { Outcome } from '../contract/outcome.js';
import type { RunRequest } from '../contract/run.js';
import type { StartHooks } from '../engine/engine.js';
import type { Admitted } from '../gate/gate.js';
import type { NetworkRefusals } from './network-refusals.js';
import { refusal } from './refusal.js';

/** One execution of code; a request may lead to several, such as before and after an installation. */
interface Execution {
  outcome: Outcome;
  lock: EnvironmentLock | null;
}

/** The facts about a request that accumulate while it is processed. */
export interface Trace {
  request: RunRequest;
  caller: Caller;
  replayOf: string | null;
  background?: StartHooks | undefined;
  admitted: Admitted | undefined;
  executions: Execution[];
  /** Uploads that it uses, to be released at its end. */
  held: (() => void)[];
}

/** Ensures that no outcome is returned before its entry is written. */
export class RunRecords {
  constructor(
    private readonly audit: AuditRecorder,
    private readonly refusals: NetworkRefusals,
  ) {}

  /** Resolves to the outcome, or to a failure if it could not be recorded. */
  async write(outcome: Outcome, trace: Trace): Promise<Outcome> {
    if (outcome.verdict.kind === 'unrecorded') return outcome;
    const isReturned = ({ runId }: Outcome) => runId === outcome.runId;
    const lock = trace.executions.find((one) => isReturned(one.outcome))?.lock ?? null;
    try {
      // An execution whose outcome is not returned, because it was repeated, is recorded as well.
      for (const earlier of trace.executions.filter((one) => !isReturned(one.outcome))) {
        await this.#writeOne(earlier, trace);
      }
      await this.#writeOne({ outcome, lock }, trace);
      return outcome;
    } catch (thrown) {
      return refusal(PungiError.from(thrown), codeOf(trace), outcome.profile);
    }
  }

  async #writeOne({ outcome, lock }: Execution, trace: Trace): Promise<void> {
    const { request, admitted, replayOf } = trace;
    const { runId, environment, profile } = outcome;
    const { client, token } = trace.caller;
    for (const refused of this.refusals.take(runId)) {
      // The entry of the run waits for these and fails with them.
      this.audit.denial({ client, token, ...refused, runId, environment, profile }).catch(() => {});
    }
    await this.audit.run({
      client,
      token,
      code: codeOf(trace),
      inputs:
        admitted === undefined ? null : inputsOf(request, admitted.job.live?.about(), admitted.job.sources),
      limits: admitted?.job.limits ?? null,
      lock,
      outcome,
      replayOf,
    });
  }
}

/** The code of a refused request may be of any type. */
const codeOf = ({ request, admitted }: Trace): string | null =>
  admitted?.job.code ?? (typeof request?.code === 'string' ? request.code : null);
