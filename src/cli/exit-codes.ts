import { constants } from 'node:os';
import type { PungiError } from '../base/errors.js';
import type { Verdict } from '../contract/outcome.js';

/** The statuses `pungi` ends with, in words, for --help. A script's own status passes through. */
export const EXIT_CODES_HELP = `
Exit codes:
  0      the run ended well
  1      Python raised an exception
  N      the script itself ended with status N (sys.exit)
  2      the command, its input or the configuration is not valid
  69     unavailable: no interpreter, no sandbox, or too busy
  70     an error inside Pungi
  77     the rules do not allow the run
  124    the time limit was reached
  130    cancelled (Ctrl-C)
  137    a limit of memory, CPU, processes, disk or output was reached
  128+N  killed by signal N, such as 139 for a segmentation fault`;

export const USAGE = 2;
export const UNAVAILABLE = 69;
export const INTERNAL = 70;
export const DENIED = 77;
const TIMED_OUT = 124;
export const CANCELLED = 130;
const LIMIT_EXCEEDED = 137;

export function exitCodeOf(verdict: Verdict): number {
  switch (verdict.kind) {
    case 'ok':
      return 0;
    case 'python-error':
      return 1;
    case 'exited':
      return verdict.status & 0xff;
    case 'timed-out':
      return TIMED_OUT;
    case 'cpu-exceeded':
    case 'memory-exceeded':
    case 'processes-exceeded':
    case 'disk-exceeded':
    case 'output-exceeded':
      return LIMIT_EXCEEDED;
    case 'killed':
      return 128 + ((constants.signals as Record<string, number>)[verdict.signal] ?? 0);
    case 'cancelled':
      return CANCELLED;
    case 'denied':
      return DENIED;
    case 'busy':
      return UNAVAILABLE;
    case 'invalid':
      return USAGE;
    case 'internal':
      return INTERNAL;
  }
}

export function exitCodeOfError({ code }: PungiError): number {
  switch (code) {
    case 'CONFIGURATION_ERROR':
    case 'INVALID_INPUT':
      return USAGE;
    case 'SANDBOX_UNAVAILABLE':
    case 'INTERPRETER_NOT_FOUND':
    case 'SERVER_BUSY':
      return UNAVAILABLE;
    case 'DENIED':
      return DENIED;
    case 'CANCELLED':
      return CANCELLED;
    default:
      return INTERNAL;
  }
}
