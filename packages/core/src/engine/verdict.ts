import { constants } from 'node:os';
import type { Limits } from '../contract/limits.js';
import { failure, type PythonException, type Verdict } from '../contract/verdicts.js';
import type { EndFacts, Job } from '../runtime/supervisor.js';
import { badCall } from './call-words.js';
import type { Whereabouts } from './missing-module.js';
import { outOfScope } from './scope-verdict.js';
import { type ExceptionReport, readException } from './worker-words.js';

/** errno of a disk that is full, over quota, or a file too large: the same on every Linux and macOS but for quota. */
const DISK_ERRORS = new Set([constants.errno.ENOSPC, constants.errno.EDQUOT, constants.errno.EFBIG]);

/** Libraries give up a little before the limit, and say so with an exception of their own. */
const NEAR = 0.8;

/** The supervisor's facts decide; the worker's own words only describe an exception or a value. */
export function decideVerdict(
  facts: EndFacts,
  report: unknown,
  { limits, rules, call }: Pick<Job, 'limits' | 'rules' | 'call'>,
  where: Whereabouts,
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
 * The limit that an exception tells of. Only the system refuses memory: what a statement of Python raises is the code's own
 * word, and counts where the supervisor saw the memory used. An error of the disk counts where the supervisor saw it full: the
 * kernel says ENOSPC of other things, too, such as epoll watches. EFBIG it says only of a file that passes the limit.
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
        reason: 'The run left the scope of its profile, and did not let itself be asked where.',
      });
  }
}

const TOTAL_MEMORY =
  'All runs together needed more memory than the server allows (MAX_TOTAL_MEMORY_MB), and this one was ended; run it again.';

const heldInKernel = (limitMb: number, held: string) =>
  `The run held more in the kernel than its memory limit of ${limitMb} MB allows: ${held}.`;

const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
