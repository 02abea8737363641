import { PungiError } from '../base/errors.js';
import type { StepOptions } from '../contract/environment.js';
import type { Outcome, PythonException } from '../contract/outcome.js';
import { type DiscoverRequest, Discovery, type Inspection } from '../contract/wrap.js';
import type { Engine } from '../engine/engine.js';
import type { Environments } from '../environments/environments.js';
import { readInlineMetadata } from '../environments/inline.js';
import type { Gate } from '../gate/gate.js';
import type { Job } from '../runtime/job.js';

interface Parts {
  gate: Gate;
  environments: Environments;
  engine: Engine;
}

/** As long as large packages take to be imported, twice. */
export const INSPECTING = { timeoutMs: 90_000, cpuMs: 90_000 };

/** Reads the outcome of an inspection. The script may have written what it likes: whatever does not fit the contract is nothing. */
export function readInspection({ verdict, value }: Outcome, filename: string): Inspection {
  if (verdict.kind === 'python-error') {
    const { type, message, line, hint } = verdict.exception;
    const what = [type, message.split('\n', 1)[0]!.slice(0, 300)].filter((text) => text !== '').join(': ');
    const place = line === null ? '' : ` (line ${line})`;
    const problem = `${filename} cannot be loaded${place}: ${what}.${hint === null ? '' : ` ${hint}`}`;
    return { discovery: null, problem };
  }
  if (verdict.kind === 'busy' || verdict.kind === 'cancelled')
    throw new PungiError(verdict.code, verdict.message);
  if (verdict.kind !== 'ok' && verdict.kind !== 'exited')
    return { discovery: null, problem: `${filename} cannot be loaded: ${verdict.message}` };
  const discovery = Discovery.safeParse(value?.json).data ?? null;
  if (discovery !== null) return { discovery, problem: discovery.problem };
  return {
    discovery: null,
    problem: `${filename} cannot be loaded: it ended its process while it was loaded.`,
  };
}

/** The largest allowed script needs less; a script that needs more is made to. */
const DISCOVERY_LIMITS = { cpuMs: 10_000 };

/** Finds the parts of a script that can be tools. Throws PYTHON_ERROR if it does not compile. */
export async function discover(
  request: DiscoverRequest,
  { gate, environments, engine }: Parts,
  options: StepOptions,
): Promise<Discovery> {
  const { job, venvName } = await gate.admitOwn({ ...request, limits: DISCOVERY_LIMITS });
  const lookIn = async (name: string | undefined): Promise<Discovery> => {
    const found = await environments.in(name, options, (ref) => engine.discover(job, ref));
    if ('exception' in found) throw unreadable(job.filename, found.exception);
    return found;
  };
  return lookIn(venvName).catch(async (error: unknown) => {
    const isNoPython = PungiError.from(error).code === 'PYTHON_ERROR';
    const requiresPython = isNoPython && venvName === undefined ? requiredPython(job) : null;
    if (requiresPython === null) throw error;
    // The Python that the script requires may accept syntax that this one does not. Its packages are not needed.
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

/** The error for a script that is not valid Python, with the position in the form of editors and compilers. */
function unreadable(filename: string, exception: PythonException): PungiError {
  const { type, message, line, column } = exception;
  const place = [filename, line, column].filter((part) => part !== null).join(':');
  // Python's message ends with the position.
  const what = message.replace(/ \([^()]*, line \d+\)$/, '');
  return new PungiError('PYTHON_ERROR', `${place} is not valid Python: ${type}: ${what}.`, { exception });
}
