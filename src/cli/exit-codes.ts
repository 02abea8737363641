import { constants } from 'node:os';
import type { ErrorCode, PungiError } from '../base/errors.js';
import type { Verdict } from '../contract/outcome.js';

export const USAGE = 2;
const NOT_FOUND = 66;
export const UNAVAILABLE = 69;
export const INTERNAL = 70;
const EXISTS = 73;
export const DAMAGED = 74;
const IN_USE = 75;
const NOT_INSTALLED = 76;
export const DENIED = 77;
const TIMED_OUT = 124;
export const CANCELLED = 130;
const LIMIT_EXCEEDED = 137;

/** The statuses of `pungi run`, in words, for --help. A script's own status passes through. */
export const EXIT_CODES_HELP = `
Exit codes:
  0      the run ended well
  1      Python raised an exception
  N      the script itself ended with status N (sys.exit)
  2      the command, its input or the configuration is not valid
  66     there is no such environment
  69     unavailable: no interpreter, no sandbox, nothing to install with, too busy,
         or no way to record the run
  70     an error inside Pungi
  73     the environment exists already
  74     the environment or the audit trail is damaged
  75     the environment is in use
  76     packages could not be installed
  77     the rules do not allow the run, or the code leaves the scope of its profile
  124    the time limit was reached
  130    cancelled (Ctrl-C)
  137    a limit of memory, CPU, processes, disk or output was reached
  128+N  killed by signal N, such as 139 for a segmentation fault`;

/** Those of the commands on environments. All but 0 and 70 promise that nothing was changed. */
export const ENV_EXIT_CODES_HELP = `
Exit codes:
  0    done
  2    the command, its input or the configuration is not valid
  66   there is no such environment
  69   unavailable: no interpreter, no sandbox, or nothing to install with
  70   an error inside Pungi
  73   the environment exists already
  74   the environment is damaged: create it again, or delete it
  75   the environment is in use
  76   packages could not be installed or removed, or not within PACKAGE_TIMEOUT_MS
  77   the rules do not allow it, such as MAX_ENVIRONMENTS
  130  cancelled: Ctrl-C, or a question that was not answered with yes`;

/** Those of the commands on profiles. */
export const PROFILE_EXIT_CODES_HELP = `
Exit codes:
  0    done; there may be warnings
  1    the code to be checked does not compile
  2    the command, the profiles file or the configuration is not valid
  69   unavailable: no interpreter or no sandbox
  70   an error inside Pungi
  77   the code leaves the scope of the profile
  130  cancelled (Ctrl-C)`;

/** Those of the commands on the audit trail. */
export const AUDIT_EXIT_CODES_HELP = `
Exit codes:
  0    done; verify: the trail is whole; replay: the same output
  1    replay: not the same output
  2    the command or the configuration is not valid, or there is no such entry
  69   unavailable: there is no trail, or it cannot be read
  70   an error inside Pungi
  74   the trail is damaged, or was tampered with
  130  cancelled: Ctrl-C, or a question that was not answered with yes`;

/** Those of the commands that make tools of scripts. */
export const WRAP_EXIT_CODES_HELP = `
Exit codes:
  0    done
  1    the script is not valid Python
  2    the command or the configuration is not valid, there is nothing to wrap, or a folder or a
       name is taken
  66   there is no such environment
  69   unavailable: no interpreter or no sandbox
  70   an error inside Pungi
  77   the rules of the profile do not allow it
  130  cancelled (Ctrl-C)`;

export function exitCodeOf(verdict: Verdict): number {
  switch (verdict.kind) {
    case 'ok':
      return 0;
    case 'exited':
      return verdict.status & 0xff;
    case 'killed':
      return 128 + ((constants.signals as Record<string, number>)[verdict.signal] ?? 0);
    default:
      return STATUSES[verdict.code];
  }
}

export const exitCodeOfError = ({ code }: PungiError): number => STATUSES[code];

const STATUSES: Record<ErrorCode, number> = {
  PYTHON_ERROR: 1,
  CONFIGURATION_ERROR: USAGE,
  INVALID_INPUT: USAGE,
  ENVIRONMENT_NOT_FOUND: NOT_FOUND,
  SANDBOX_UNAVAILABLE: UNAVAILABLE,
  INTERPRETER_NOT_FOUND: UNAVAILABLE,
  TOOL_UNAVAILABLE: UNAVAILABLE,
  SERVER_BUSY: UNAVAILABLE,
  AUDIT_UNAVAILABLE: UNAVAILABLE,
  INTERNAL_ERROR: INTERNAL,
  ENVIRONMENT_EXISTS: EXISTS,
  ENVIRONMENT_DAMAGED: DAMAGED,
  AUDIT_DAMAGED: DAMAGED,
  ENVIRONMENT_IN_USE: IN_USE,
  PACKAGE_INSTALLATION_ERROR: NOT_INSTALLED,
  DENIED,
  EXECUTION_TIMEOUT: TIMED_OUT,
  CANCELLED,
  CPU_LIMIT_EXCEEDED: LIMIT_EXCEEDED,
  MEMORY_LIMIT_EXCEEDED: LIMIT_EXCEEDED,
  PROCESS_LIMIT_EXCEEDED: LIMIT_EXCEEDED,
  DISK_LIMIT_EXCEEDED: LIMIT_EXCEEDED,
  OUTPUT_LIMIT_EXCEEDED: LIMIT_EXCEEDED,
  NONZERO_EXIT: 1,
  KILLED_BY_SIGNAL: LIMIT_EXCEEDED,
};
