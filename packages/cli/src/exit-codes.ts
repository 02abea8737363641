import type { ErrorCode, PungiError } from '@pungi/core/base';
import { exitOfCode } from '@pungi/core/contract';

export const USAGE = 2;
export const UNAVAILABLE = 69;
const INTERNAL = 70;
const EXISTS = 73;
export const DAMAGED = 74;
export const DENIED = 77;
export const CANCELLED = 130;

/** The exit codes of `pungi run`, for --help. The status of a script passes through. */
export const EXIT_CODES_HELP = `
Exit codes:
  0      the run succeeded
  1      Python raised an exception
  N      the script itself ended with status N (sys.exit)
  2      the command, its input or the configuration is not valid
  66     there is no such environment
  69     unavailable: no interpreter, no sandbox, nothing to install with, too busy,
         or no way to record the run
  70     an error inside Pungi
  73     the environment already exists
  74     the environment or the audit trail is damaged
  75     the environment is in use
  76     packages could not be installed
  77     the rules do not allow the run, or the code is outside the scope of its profile
  124    the time limit was reached
  130    cancelled (Ctrl-C)
  137    a limit of memory, CPU, processes, disk or output was reached
  128+N  killed by signal N, such as 139 for a segmentation fault`;

/** The exit codes of `pungi env`. All but 0 and 70 guarantee that nothing was changed. */
export const ENV_EXIT_CODES_HELP = `
Exit codes:
  0    done
  2    the command, its input or the configuration is not valid
  66   there is no such environment
  69   unavailable: no interpreter, no sandbox, or nothing to install with
  70   an error inside Pungi
  73   the environment already exists
  74   the environment is damaged: create it again, or delete it
  75   the environment is in use
  76   packages could not be installed or removed, or not within PACKAGE_TIMEOUT_MS
  77   the rules do not allow it, such as MAX_ENVIRONMENTS
  130  cancelled: Ctrl-C, or a question that was not answered with yes`;

/** The exit codes of `pungi cluster`. */
export const CLUSTER_EXIT_CODES_HELP = `
Exit codes:
  0    done
  2    the command or the configuration is not valid, a folder is taken, there is no such member, or
       NATS does not answer
  70   an error inside Pungi, or the worker was lost while it was drained
  77   the worker does not follow the orders of these credentials, or only the owner may do it
  130  cancelled (Ctrl-C)`;

/** The exit codes of `pungi profile`. */
export const PROFILE_EXIT_CODES_HELP = `
Exit codes:
  0    done; there may be warnings
  1    the checked code does not compile
  2    the command, the profiles file or the configuration is not valid
  69   unavailable: no interpreter or no sandbox
  70   an error inside Pungi
  77   the code is outside the scope of the profile
  130  cancelled (Ctrl-C)`;

/** The exit codes of `pungi audit`. */
export const AUDIT_EXIT_CODES_HELP = `
Exit codes:
  0    done; verify: the trail is whole; replay: the same output
  1    replay: not the same output
  2    the command or the configuration is not valid, or there is no such entry
  69   unavailable: there is no trail, or it cannot be read; verify --cluster: some trails were not checked
  70   an error inside Pungi
  74   the trail is damaged, or was tampered with
  130  cancelled: Ctrl-C, or a question that was not answered with yes`;

/** The exit codes of `pungi files`. */
export const FILES_EXIT_CODES_HELP = `
Exit codes:
  0    done
  2    the command or the configuration is not valid, there is no such run or file, or the file to
       write exists
  70   an error inside Pungi
  130  cancelled (Ctrl-C)`;

/** The exit codes of `pungi wrap`. */
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

export { exitCodeOf } from '@pungi/core/contract';

/** Codes that are not verdicts of a run. */
const OTHER_CODES: Partial<Record<ErrorCode, number>> = {
  CONFIGURATION_ERROR: USAGE,
  ENVIRONMENT_EXISTS: EXISTS,
};

export const exitCodeOfError = ({ code }: PungiError): number =>
  exitOfCode(code) ?? OTHER_CODES[code] ?? INTERNAL;
