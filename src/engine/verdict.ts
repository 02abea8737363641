import { constants } from 'node:os';
import type { Limits } from '../contract/limits.js';
import type { PythonException, Verdict } from '../contract/outcome.js';
import type { EndFacts, Job } from '../runtime/supervisor.js';
import { badCall } from './call-words.js';
import type { Whereabouts } from './missing-module.js';
import { outOfScope } from './scope-verdict.js';
import { type ExceptionReport, readException } from './worker-words.js';

/** errno of a disk that is full, over quota, or a file too large: the same on every Linux and macOS but for quota. */
const DISK_ERRORS = new Set([constants.errno.ENOSPC, constants.errno.EDQUOT, constants.errno.EFBIG]);

/** Libraries give up a little before the limit, and say so with an exception of their own. */
const NEAR = 0.8;

const SIGNAL_MEANINGS: Record<string, string> = {
  SIGSEGV: 'a segmentation fault, usually in a native extension or from runaway recursion',
  SIGABRT: 'an abort from native code',
  SIGFPE: 'an arithmetic error in native code',
  SIGBUS: 'a bad memory access in native code',
  SIGILL: 'an illegal instruction in native code',
  SIGSYS: 'a forbidden system call',
};

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
  if (facts.signal !== null) return killedBy(facts.signal);
  if (facts.status === 0) return { kind: 'ok' };
  if (raised === undefined) {
    const status = facts.status ?? 1;
    return {
      kind: 'exited',
      code: 'NONZERO_EXIT',
      message: `The script ended with status ${status}.`,
      status,
    };
  }
  const reached = limitMet(raised, facts, limits);
  return reached === null ? pythonError(raised.exception) : limitVerdict(reached, limits, raised.exception);
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
  const why = exception === undefined ? {} : { exception };
  switch (reason) {
    case 'timeout':
      return timedOut(limits);
    case 'cpu':
      return {
        kind: 'cpu-exceeded',
        code: 'CPU_LIMIT_EXCEEDED',
        message: `The run used more than ${limits.cpuMs} ms of CPU time and was ended.`,
        limitMs: limits.cpuMs,
      };
    case 'memory':
      return {
        kind: 'memory-exceeded',
        code: 'MEMORY_LIMIT_EXCEEDED',
        message: held
          ? `The run held more in the kernel than its memory limit of ${limits.memoryMb} MB allows: ${held}.`
          : `The run needed more than ${limits.memoryMb} MB of memory.`,
        limitMb: limits.memoryMb,
        ...why,
      };
    case 'total-memory':
      return {
        kind: 'memory-exceeded',
        code: 'MEMORY_LIMIT_EXCEEDED',
        message:
          'All runs together needed more memory than the server allows (MAX_TOTAL_MEMORY_MB), and this one was ended; run it again.',
        limitMb: limits.memoryMb,
      };
    case 'processes':
      return {
        kind: 'processes-exceeded',
        code: 'PROCESS_LIMIT_EXCEEDED',
        message: `The run started more than ${limits.processes} processes and threads and was ended.`,
        limit: limits.processes,
      };
    case 'disk':
      return {
        kind: 'disk-exceeded',
        code: 'DISK_LIMIT_EXCEEDED',
        message: `The run wrote more than ${limits.diskMb} MB, or too many files.`,
        limitMb: limits.diskMb,
        ...why,
      };
    case 'output':
      return {
        kind: 'output-exceeded',
        code: 'OUTPUT_LIMIT_EXCEEDED',
        message: `The run printed more than ${limits.outputHardBytes} bytes and was ended.`,
        limitBytes: limits.outputHardBytes,
      };
    case 'cancelled':
      return cancelled();
    case 'scope':
      return refused('The run left the scope of its profile, and did not let itself be asked where.');
  }
}

export function timedOut(limits: Limits): Verdict {
  const message = `The run was ended after ${limits.timeoutMs} ms.`;
  return { kind: 'timed-out', code: 'EXECUTION_TIMEOUT', message, limitMs: limits.timeoutMs };
}

export const cancelled = (): Verdict => ({
  kind: 'cancelled',
  code: 'CANCELLED',
  message: 'The run was cancelled.',
});

export const refused = (reason: string): Verdict => ({
  kind: 'denied',
  code: 'DENIED',
  message: reason,
  reason,
});

export const internal = (message: string): Verdict => ({ kind: 'internal', code: 'INTERNAL_ERROR', message });

function killedBy(number: number): Verdict {
  const signal =
    Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
  const meaning = SIGNAL_MEANINGS[signal];
  const message = `The script was killed by ${signal}${meaning ? `: ${meaning}` : ''}.`;
  return { kind: 'killed', code: 'KILLED_BY_SIGNAL', message, signal };
}

export function pythonError(exception: PythonException): Verdict {
  const where = exception.line === null ? '' : ` (line ${exception.line})`;
  const what = exception.message === '' ? exception.type : `${exception.type}: ${exception.message}`;
  return { kind: 'python-error', code: 'PYTHON_ERROR', message: `${firstLine(what)}${where}`, exception };
}

const firstLine = (text: string) => text.split('\n', 1)[0]!.slice(0, 500);
