import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { PythonException } from '../contract/outcome.js';
import type { DiscoverRequest, Discovery } from '../contract/wrap.js';
import type { Engine } from '../engine/engine.js';
import type { Environments } from '../environments/environments.js';
import { readInlineMetadata } from '../environments/inline/inline-metadata.js';
import type { Gate } from '../gate/gate.js';
import type { Job } from '../runtime/supervisor.js';

interface Parts {
  gate: Gate;
  environments: Environments;
  engine: Engine;
}

/** The largest script that is allowed is read in less; what takes longer is made to. */
const LOOK = { cpuMs: 10_000 };

/** What of a script can be tools. Throws PYTHON_ERROR for what does not compile. */
export async function discover(
  request: DiscoverRequest,
  { gate, environments, engine }: Parts,
  options: StepOptions,
): Promise<Discovery> {
  const { job, venvName } = await gate.admitOwn({ ...request, limits: LOOK });
  const lookIn = async (name: string | undefined): Promise<Discovery> => {
    const found = await environments.in(name, options, (ref) => engine.discover(job, ref));
    if ('exception' in found) throw unreadable(job.filename, found.exception);
    return found;
  };
  return lookIn(venvName).catch(async (error: unknown) => {
    const isNoPython = PungiError.from(error).code === 'PYTHON_ERROR';
    const requiresPython = isNoPython && venvName === undefined ? requiredPython(job) : null;
    if (requiresPython === null) throw error;
    // Another Python, which it will run with, may know what this one does not. Its packages are not needed for a look.
    const wanted = { dependencies: [], requiresPython };
    const other = await environments.provideInline(wanted, options).catch(() => undefined);
    if (other === undefined) throw error;
    return lookIn(other);
  });
}

function requiredPython({ code }: Job): string | null {
  try {
    return readInlineMetadata(code)?.requiresPython ?? null;
  } catch {
    return null;
  }
}

/** A script that is no Python, with the place in the form that editors and compilers use. */
function unreadable(filename: string, exception: PythonException): PungiError {
  const { type, message, line, column } = exception;
  const place = [filename, line, column].filter((part) => part !== null).join(':');
  // Python's own words end with the place.
  const what = message.replace(/ \([^()]*, line \d+\)$/, '');
  return new PungiError('PYTHON_ERROR', `${place} is not valid Python: ${type}: ${what}.`, { exception });
}
