import { basename, dirname } from 'node:path';
import { PungiError } from '../base/errors.js';
import { sha256 } from '../base/sha256.js';
import type { Outcome, PythonException } from '../contract/outcome.js';
import type { RunOptions, RunRequest } from '../contract/run.js';
import type { Discovery, Remark } from '../contract/wrap.js';
import { type LocalFile, localModules } from './local-modules.js';
import { type MissingImport, missingAmong, missingIn } from './missing-imports.js';

export interface DiscoverRequest {
  code: string;
  filename: string;
  /** Whose Python reads it; the default environment's if not given. */
  venvName?: string | undefined;
}

/** What wrapping asks of Pungi. */
export interface PythonSide {
  /** Throws PYTHON_ERROR for what does not compile. */
  discover(request: DiscoverRequest, options?: RunOptions): Promise<Discovery>;
  probe(request: RunRequest, options?: RunOptions): Promise<Outcome>;
  profiles: {
    /** Throws where there is none of the name. */
    get(name: string): { name: string; environment: string | null; packages: readonly string[] };
  };
  environments: {
    defaultName: string;
    /** Throws where there is none of the name. */
    metadata(name: string): Promise<unknown>;
  };
}

export interface ScriptToLookAt {
  code: string;
  /** The real path of the script; imports are looked for beside it, as Python does. Not given: it is alone. */
  path?: string | undefined;
  filename?: string | undefined;
  environment?: string | null | undefined;
  /** Where no environment is named: what the one to be made holds, whatever the script itself asks for. */
  packages?: readonly string[] | undefined;
}

/** All that can be known of a script without running it. */
export interface ScriptLook {
  code: string;
  filename: string;
  sha256: string;
  discovery: Discovery;
  /** The files beside it that it imports. */
  modules: LocalFile[];
  /** What it and they import from elsewhere, standard library aside. */
  imports: string[];
  missingImports: MissingImport[];
  remarks: Remark[];
}

/** Looks at a script, at what lies beside it and at its environment. Nothing of it is run. */
export async function discoverScript(
  side: PythonSide,
  {
    code,
    path,
    filename = path === undefined ? 'main.py' : basename(path),
    environment,
    packages = [],
  }: ScriptToLookAt,
  options: RunOptions = {},
): Promise<ScriptLook> {
  const venvName = environment ?? undefined;
  const discover = (source: string, name: string) =>
    side.discover({ code: source, filename: name, ...(venvName !== undefined && { venvName }) }, options);
  const discovery = await discover(code, filename);
  const importsOf = async (source: string, name: string) => (await discover(source, name)).imports;
  const local =
    path === undefined
      ? { files: [], imports: discovery.imports, remarks: [] }
      : await localModules(dirname(path), filename, discovery.imports, importsOf);
  const isMadeForIt =
    packages.length > 0 || discovery.dependencies.length > 0 || discovery.requiresPython !== null;
  const missingImports =
    venvName === undefined && isMadeForIt
      ? missingAmong(packages.length > 0 ? packages : discovery.dependencies, local.imports)
      : await missingIn(venvName, local.imports, (request, how) => side.probe(request, how), options);
  return {
    code,
    filename,
    sha256: sha256(code),
    discovery,
    modules: local.files,
    imports: local.imports,
    missingImports,
    remarks: [...discovery.remarks, ...local.remarks],
  };
}

/** A script that is no Python, with the place in the form that editors and compilers use. */
export function unreadable(filename: string, exception: PythonException): PungiError {
  const { type, message, line, column } = exception;
  const place = [filename, line, column].filter((part) => part !== null).join(':');
  // Python's own words end with the place.
  const what = message.replace(/ \([^()]*, line \d+\)$/, '');
  return new PungiError('PYTHON_ERROR', `${place} is not valid Python: ${type}: ${what}.`, { exception });
}
