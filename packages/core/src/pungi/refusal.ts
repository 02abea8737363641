import type { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { PackageResult } from '../contract/environment.js';
import { buildOutcome, type Outcome } from '../contract/outcome.js';
import { byCaller, failure, kindOfCode, type PythonException, type Verdict } from '../contract/verdicts.js';

/** Returns the outcome of a request that did not run. */
export const refusal = (error: PungiError, code: unknown, profile: string | null = null): Outcome =>
  buildOutcome({
    verdict: refusedVerdict(error),
    codeSha256: typeof code === 'string' ? sha256(code) : '',
    profile,
  });

/** Returns the outcome of a run after which something failed. */
export const failed = (outcome: Outcome, error: PungiError): Outcome => ({
  ...outcome,
  verdict: refusedVerdict(error),
  value: null,
});

/** Converts an error into the verdict with its code and the matching details. */
function refusedVerdict({ code, message, details }: PungiError): Verdict {
  if (details['verdict'] !== undefined) return details['verdict'] as Verdict;
  const { exception, packages, explanation } = details as {
    exception?: PythonException;
    packages?: PackageResult[];
    explanation?: string;
  };
  const kind = kindOfCode(code);
  switch (kind) {
    case 'python-error':
      return failure(kind, { exception: exception! });
    case 'invalid':
      return failure(kind, { issues: (details['issues'] as string[] | undefined) ?? [message] }, message);
    case 'busy':
      return failure(kind, { queued: Number(details['queued'] ?? 0), ...byCaller(details) }, message);
    case 'denied':
      return failure(kind, { reason: message });
    case 'cancelled':
    case 'unavailable':
    case 'no-session':
    case 'unrecorded':
      return { ...failure(kind, {}, message), code } as Verdict;
    case 'no-environment': {
      const why = { ...(packages && { packages }), ...(explanation !== undefined && { explanation }) };
      return { ...failure(kind, why, message), code } as Verdict;
    }
    default:
      return failure('internal', {}, message);
  }
}
