import { PungiError } from '../../base/errors.js';
import type { PackageInfo, StepOptions } from '../../contract/environment.js';
import { SANDBOX_UID } from '../../sandbox/sandbox-uid.js';
import { PYTHON_HALF } from '../../sandbox/spawn.js';
import { runTool } from '../../sandbox/tool.js';

/** Making and comparing thousands of files takes a second or two; this much only a dying disk. */
const TIMEOUT_MS = 10 * 60_000;

/** The status that venv_tree.py ends with when packages have touched what is not theirs. */
const REFUSED = 65;

export interface VenvFacts {
  packages: PackageInfo[];
  bytes: number;
  sharedBytes: number;
}

export interface FinishedPlace {
  venv: string;
  /** Its pyvenv.cfg as it was made. */
  configuration: string;
  willBeAt: string;
}

type Order =
  | { do: 'create'; to: string; inherit: boolean }
  | { do: 'show-interpreter'; venv: string; inherit: boolean }
  | { do: 'dependents'; venv: string; names: string[] }
  | { do: 'sweep'; cache: string }
  | { do: 'link'; source: string; to: string }
  | { do: 'finish'; venv: string; configuration: string; will_be_at: string; store: string; uid: number };

/** An empty virtual environment of an interpreter; with `inherit` it sees what is installed there. */
export function createVenv(
  python: string,
  to: string,
  { inherit, signal }: { inherit: boolean } & StepOptions,
): Promise<{ parent: string | null; configuration: string }> {
  return order(python, { do: 'create', to, inherit }, signal);
}

/** Lets a virtual environment see what is installed for its interpreter, or hides that. */
export function showInterpreter(
  python: string,
  venv: string,
  { inherit, signal }: { inherit: boolean } & StepOptions,
): Promise<{ parent: string | null; configuration: string }> {
  return order(python, { do: 'show-interpreter', venv, inherit }, signal);
}

/** A copy that shares its files with the original. */
export function linkVenv(
  python: string,
  source: string,
  to: string,
  signal?: AbortSignal,
): Promise<{ configuration: string }> {
  return order(python, { do: 'link', source, to }, signal);
}

/** Sees that it is still the environment it was made as, compiles it, lets scripts know their place, and tells what is there. */
export function finishVenv(
  python: string,
  { venv, configuration, willBeAt, store }: FinishedPlace & { store: string },
  signal?: AbortSignal,
): Promise<VenvFacts> {
  return order(
    python,
    { do: 'finish', venv, configuration, will_be_at: willBeAt, store, uid: SANDBOX_UID },
    signal,
  );
}

/** Removes what a uv that was killed was unpacking, unless another one is at work. */
export function sweepCache(python: string, cache: string): Promise<null> {
  return order(python, { do: 'sweep', cache });
}

/** Which installed packages need one of these. */
export function findDependents(python: string, venv: string, names: string[]): Promise<string[]> {
  return order(python, { do: 'dependents', venv, names });
}

async function order<Answer>(python: string, what: Order, signal?: AbortSignal): Promise<Answer> {
  const args = ['-I', '-S', '-X', 'utf8', PYTHON_HALF, 'venv', JSON.stringify(what)];
  const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
  const {
    status,
    signal: killed,
    stdout,
    stderr,
  } = await runTool({ python, command: python, args, env: {} }, options);
  if (status === 0) return JSON.parse(stdout) as Answer;
  const why = stderr.trim().split('\n').at(-1) || `it ended with ${killed ?? status}`;
  if (status === REFUSED) throw new PungiError('PACKAGE_INSTALLATION_ERROR', why, { explanation: why });
  throw new PungiError('INTERNAL_ERROR', `The environment's files could not be written: ${why}.`);
}
