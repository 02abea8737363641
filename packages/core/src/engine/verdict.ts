import { constants } from 'node:os';
import type { Limits } from '../contract/limits.js';
import { failure, type PythonException, type Verdict } from '../contract/verdicts.js';
import type { EndFacts, Job } from '../runtime/job.js';
import { badCall } from './call-report.js';
import type { HintContext } from './missing-module.js';
import { outOfScope } from './scope-verdict.js';
import { type ExceptionReport, readException } from './worker-report.js';

/**
 * errno of a full disk, an exceeded quota or a file that is too large: the same on Linux and macOS except for quota.
 */
const DISK_ERRORS = new Set([constants.errno.ENOSPC, constants.errno.EDQUOT, constants.errno.EFBIG]);

/** Libraries give up a little before the limit, with their own exceptions. */
const NEAR = 0.8;

/** Decides the verdict from the supervisor's facts; the worker's report only describes an exception or a value. */
export function decideVerdict(
  facts: EndFacts,
  report: unknown,
  { limits, rules, call }: Pick<Job, 'limits' | 'rules' | 'call'>,
  where: HintContext,
): Verdict {
  const raised = readException(report, where);
  const hasFailedByItself = facts.killedFor === null && facts.signal === null && facts.status !== 0;
  if (rules && (facts.killedFor === 'scope' || hasFailedByItself)) {
    const denied = outOfScope(report, rules);
    if (denied) return denied;
  }
  if (call && hasFailedByItself) {
    const bad = badCall(report, call);
    if (bad) return bad;
  }
  if (facts.killedFor !== null) return limitVerdict(facts.killedFor, limits, raised?.exception, facts.held);
  if (facts.signal !== null) return failure('killed', { signal: signalName(facts.signal) });
  if (facts.status === 0) return { kind: 'ok' };
  if (raised === undefined) return failure('exited', { status: facts.status ?? 1 });
  const reached = limitMet(raised, facts, limits);
  return reached === null
    ? failure('python-error', { exception: raised.exception })
    : limitVerdict(reached, limits, raised.exception);
}

/**
 * Returns the limit that an exception indicates. Only the system refuses memory: a MemoryError that a Python
 * statement raises counts only if the supervisor saw the memory used. A disk error counts only if the supervisor saw
 * the disk full, because the kernel reports ENOSPC for other things, too, such as epoll watches. It reports EFBIG
 * only for a file that exceeds the limit.
 */
function limitMet(
  { isMemoryError, isRaised, errno }: ExceptionReport,
  { peakBytes, diskFull }: EndFacts,
  { memoryMb }: Limits,
): 'memory' | 'disk' | null {
  const isNear = peakBytes >= NEAR * memoryMb * 1024 * 1024;
  if (isMemoryError) return isRaised && !isNear ? null : 'memory';
  if (errno === constants.errno.EFBIG && !isRaised) return 'disk';
  return diskFull && errno !== null && DISK_ERRORS.has(errno) ? 'disk' : null;
}

function limitVerdict(
  reason: NonNullable<EndFacts['killedFor']>,
  limits: Limits,
  exception?: PythonException,
  held?: string | null,
): Verdict {
  const { memoryMb, diskMb, processes } = limits;
  const why = exception === undefined ? {} : { exception };
  switch (reason) {
    case 'timeout':
      return failure('timed-out', { limitMs: limits.timeoutMs });
    case 'cpu':
      return failure('cpu-exceeded', { limitMs: limits.cpuMs });
    case 'memory':
      return failure(
        'memory-exceeded',
        { limitMb: memoryMb, ...why },
        held ? heldInKernel(memoryMb, held) : undefined,
      );
    case 'total-memory':
      return failure('memory-exceeded', { limitMb: memoryMb }, TOTAL_MEMORY);
    case 'processes':
      return failure('processes-exceeded', { limit: processes });
    case 'disk':
      return failure('disk-exceeded', { limitMb: diskMb, ...why });
    case 'output':
      return failure('output-exceeded', { limitBytes: limits.outputHardBytes });
    case 'cancelled':
      return failure('cancelled', {});
    case 'scope':
      return failure('denied', {
        reason: 'The run left the scope of its profile, and its process did not report where.',
      });
  }
}

const TOTAL_MEMORY =
  'All runs together needed more memory than the server allows (MAX_TOTAL_MEMORY_MB), and this one was ended; run it again.';

const heldInKernel = (limitMb: number, held: string) =>
  `The run held more in the kernel than its memory limit of ${limitMb} MB allows: ${held}.`;

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
