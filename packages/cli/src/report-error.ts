import { type Printed, PungiError, printable } from '@pungi/core/base';
import { exitCodeOfError } from './exit-codes.js';

/** Prints why a command failed, and returns its exit status. */
export function reportError(thrown: unknown, stderr: Printed): number {
  const error = PungiError.from(thrown);
  stderr.write(`pungi: ${printable(error.message)}\n`);
  return exitCodeOfError(error);
}
