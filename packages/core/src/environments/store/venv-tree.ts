import { PungiError } from '../../base/errors.js';
import type { PackageInfo, StepOptions } from '../../contract/environment.js';
import { SANDBOX_UID } from '../../sandbox/sandbox-uid.js';
import { runTool } from '../../sandbox/tool.js';

/** Creating and comparing thousands of files takes a second or two; this long only on a failing disk. */
const TIMEOUT_MS = 10 * 60_000;

const ROLE = 'pungi.tools.venv_tree';

/** The exit status of venv_tree.py when packages have changed files that are not theirs. */
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

/** Creates an empty virtual environment; with `inherit` it sees the interpreter's packages. */
export function createVenv(
  python: string,
  to: string,
  { inherit, signal }: { inherit: boolean } & StepOptions,
): Promise<{ parent: string | null; configuration: string }> {
  return order(python, { do: 'create', to, inherit }, signal);
}

/** Makes a virtual environment show or hide its interpreter's packages. */
export function showInterpreter(
  python: string,
  venv: string,
  { inherit, signal }: { inherit: boolean } & StepOptions,
): Promise<{ parent: string | null; configuration: string }> {
  return order(python, { do: 'show-interpreter', venv, inherit }, signal);
}

/** Creates a copy that shares its files with the original. */
export function linkVenv(
  python: string,
  source: string,
  to: string,
  signal?: AbortSignal,
): Promise<{ configuration: string }> {
  return order(python, { do: 'link', source, to }, signal);
}

/**
 * Checks that the environment was not tampered with, compiles it, adjusts the paths of scripts, and lists its
 * packages.
 */
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

/** Removes what a killed uv was unpacking, unless another one is running. */
export function sweepCache(python: string, cache: string): Promise<null> {
  return order(python, { do: 'sweep', cache });
}

/** Returns the installed packages that need one of these. */
export function findDependents(python: string, venv: string, names: string[]): Promise<string[]> {
  return order(python, { do: 'dependents', venv, names });
}

async function order<Answer>(python: string, what: Order, signal?: AbortSignal): Promise<Answer> {
  const options = { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) };
  const {
    status,
    signal: killed,
    stdout,
    stderr,
  } = await runTool({ python, command: python, role: ROLE, args: [JSON.stringify(what)], env: {} }, options);
  if (status === 0) return JSON.parse(stdout) as Answer;
  const why = stderr.trim().split('\n').at(-1) || `it ended with ${killed ?? status}`;
  if (status === REFUSED) throw new PungiError('PACKAGE_INSTALLATION_ERROR', why, { explanation: why });
  throw new PungiError('INTERNAL_ERROR', `The environment's files could not be written: ${why}.`);
}
