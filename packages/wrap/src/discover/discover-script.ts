import { basename } from 'node:path';
import { distributionFor } from '@pungi/core';
import { PungiError, sha256 } from '@pungi/core/base';
import type {
  DiscoverRequest,
  Discovery,
  InputFile,
  Inspection,
  Outcome,
  Remark,
  RunOptions,
  RunRequest,
} from '@pungi/core/contract';
import { z } from 'zod';
import { type LocalFile, placeOf, ScriptFolder, type ScriptPlace } from './script-folder.js';

/** What wrapping asks of Pungi. */
export interface PythonSide {
  /** Reads the script and runs nothing of it. Throws PYTHON_ERROR for what does not compile. */
  discover(request: DiscoverRequest, options?: RunOptions): Promise<Discovery>;
  /** Loads the script, in the sandbox, as a call of it does. */
  inspect(request: RunRequest, options?: InspectOptions): Promise<Inspection>;
  probe(request: RunRequest, options?: RunOptions): Promise<Outcome>;
  profiles: {
    /** Throws where there is none of the name. */
    get(name: string): { name: string; environment: string | null; packages: readonly string[] };
  };
  environments: {
    defaultName: string;
    /** Undefined while the default one is the interpreter itself. Throws where there is none of the name. */
    metadata(name: string): Promise<{ generation: string } | undefined>;
  };
}

export interface InspectOptions extends RunOptions {
  /** What its command line is called as a tool; the name of the file if not given. */
  toolName?: string | undefined;
}

export interface ScriptToLookAt {
  code: string;
  /** The real path of the script; imports are looked for beside it, as Python does. Not given: it is alone. */
  path?: string | undefined;
  filename?: string | undefined;
  /** Files and folders beside it that go along with it, by their paths from its folder. */
  include?: readonly string[] | undefined;
  environment?: string | null | undefined;
  /** Where no environment is named: what the one to be made holds, whatever the script itself asks for. */
  packages?: readonly string[] | undefined;
  profile?: string | null | undefined;
  toolName?: string | undefined;
  /** True where it has no place to run in: it is read alone. */
  isUnloadable?: boolean | undefined;
}

/** All that is known of a script. */
export interface ScriptLook {
  code: string;
  filename: string;
  /** The package that it is a module of. */
  package: string | undefined;
  sha256: string;
  discovery: Discovery;
  /** The files beside it that go along with it. */
  modules: LocalFile[];
  /** What it and they import from elsewhere, standard library aside. */
  imports: string[];
  missingImports: MissingImport[];
  remarks: Remark[];
  /** Why its calls cannot run. */
  problem: string | null;
}

/**
 * Looks at a script, at what lies beside it and at its environment. The script is loaded in the sandbox, as a call of it will
 * be, so that what keeps calls from running is known now.
 */
export async function discoverScript(
  side: PythonSide,
  {
    code,
    path,
    filename = path === undefined ? 'main.py' : basename(path),
    include = [],
    environment,
    packages = [],
    profile,
    toolName,
    isUnloadable = false,
  }: ScriptToLookAt,
  options: RunOptions = {},
): Promise<ScriptLook> {
  const venvName = environment ?? undefined;
  const place = path === undefined ? undefined : placeOf(path, code);
  const discover = (source: string, name: string, more: Partial<DiscoverRequest> = {}) =>
    side.discover(
      { code: source, filename: name, ...more, ...(venvName !== undefined && { venvName }) },
      options,
    );
  const within = place?.package === undefined ? {} : { package: place.package };
  const read = await discover(code, filename, within);
  const importsOf = async (source: string, name: string) => (await discover(source, name)).imports;
  const beside = place && new ScriptFolder(place.root, place.script);
  for (const one of include) beside?.takeNamed(`${place!.prefix}${one}`);
  if (place?.package !== undefined) beside!.takeModule(place.package.split('.', 1)[0]!);
  const local =
    beside === undefined
      ? { imports: read.imports, remarks: [] }
      : await takeModules(beside, read.imports, importsOf, isTakenAlong(place!));
  const missingImports =
    venvName === undefined && wantsItsOwn(read, packages)
      ? missingAmong(packages.length > 0 ? packages : read.dependencies, local.imports)
      : await missingIn(venvName, local.imports, (request, how) => side.probe(request, how), options);
  const modules = beside?.files ?? [];
  const request: RunRequest = {
    code,
    filename,
    ...within,
    files: inputFiles(modules),
    ...(venvName !== undefined && { venvName }),
  };
  const isLoaded = !isUnloadable && read.needsLoading;
  const inspected = isLoaded
    ? await inspectUnder(side, profile ?? undefined, request, { ...options, toolName })
    : { discovery: null, problem: null };
  const found = { ...read, problem: inspected.problem, ...ofItself(inspected.discovery) };
  return {
    code,
    filename,
    package: place?.package,
    sha256: sha256(code),
    discovery: found,
    modules,
    imports: local.imports,
    missingImports,
    remarks: [...found.remarks, ...local.remarks, ...leftBehind(beside, found)],
    problem: inspected.problem,
  };
}

/**
 * Only what loading can show. Code of the script may have forged it, and the rest concerns others as well: the packages of an
 * environment, and the modules that workers are parked with.
 */
function ofItself(discovery: Discovery | null): Partial<Discovery> {
  if (discovery === null) return {};
  const { description, functions, scripts, remarks, problem } = discovery;
  return { description, functions, scripts, remarks, problem };
}

/** Where its profile denies the script, the problem says so, and the default profile shows which tools it has. */
async function inspectUnder(
  side: PythonSide,
  profile: string | undefined,
  request: RunRequest,
  options: InspectOptions,
): Promise<Inspection> {
  if (profile === undefined) return side.inspect(request, options);
  const inspected = await side.inspect({ ...request, profile }, options);
  if (inspected.discovery !== null) return inspected;
  const { discovery } = await side.inspect(request, options);
  return { discovery, problem: inspected.problem };
}

/** Files as a run is given them. */
export const inputFiles = (modules: readonly LocalFile[]): InputFile[] =>
  modules.map(({ path, content }) => ({ path, base64: content.toString('base64') }));

/** Files that it names and that will not be there when it runs. */
const leftBehind = (beside: ScriptFolder | undefined, { namedFiles }: Discovery): Remark[] =>
  namedFiles
    .filter(({ path }) => beside?.isLeftBehind(path))
    .map(({ path, line }) => ({ line, name: path, reason: LEFT_BEHIND, isSkipped: false }));

const LEFT_BEHIND =
  'The script names this file, which lies beside it and does not go along with it: with --include it does.';

/** Whether an environment is made for a script, where it is given none. */
export const wantsItsOwn = (
  { dependencies, requiresPython }: Discovery,
  packages: readonly string[],
): boolean => packages.length > 0 || dependencies.length > 0 || requiresPython !== null;

interface LocalModules {
  /** What the script and the files that go along with it import from elsewhere. */
  imports: string[];
  remarks: Remark[];
}

/** Beside an installed module lie all packages of its environment: only its own package goes along. */
function isTakenAlong({ root, package: own }: ScriptPlace): (module: string) => boolean {
  const isInstalled = ['site-packages', 'dist-packages'].includes(basename(root));
  return (module) => !isInstalled || module === own?.split('.', 1)[0];
}

/** The modules that code imports, without the standard library's. */
type ImportsOf = (code: string, filename: string) => Promise<readonly string[]>;

/**
 * Takes along what a script imports from its own folder, and what that imports, in the way in which Python would. So it does
 * with what the files import that go along already.
 */
export async function takeModules(
  beside: ScriptFolder,
  imports: readonly string[],
  importsOf: ImportsOf,
  isTaken: (module: string) => boolean = () => true,
): Promise<LocalModules> {
  const elsewhere = new Set<string>();
  const remarks: Remark[] = [];
  const seen = new Set<string>();
  const waiting = [...imports];
  const read = async (files: readonly LocalFile[]) => {
    for (const { path, content } of files.filter(({ path }) => path.endsWith('.py'))) {
      try {
        waiting.push(...(await importsOf(new TextDecoder().decode(content), path.split('/').at(-1)!)));
      } catch (error) {
        const { code, message } = PungiError.from(error);
        if (code !== 'PYTHON_ERROR') throw error;
        remarks.push({ line: 1, name: path, reason: `does not compile: ${message}`, isSkipped: false });
      }
    }
  };
  const named = beside.files;
  await read(named);
  const known = new Set(named.map(({ path }) => path));
  for (let module = waiting.shift(); module !== undefined; module = waiting.shift()) {
    const [name = ''] = module.split('.', 1);
    if (seen.has(name)) continue;
    seen.add(name);
    const found = isTaken(name) ? beside.takeModule(name) : [];
    if (found.length === 0) elsewhere.add(name);
    await read(found.filter(({ path }) => !known.has(path)));
  }
  return { imports: [...elsewhere], remarks };
}

/** A module that cannot be imported, and the package that would bring it; null: nobody knows. */
export interface MissingImport {
  module: string;
  package: string | null;
}

type Probe = (request: RunRequest, options?: RunOptions) => Promise<Outcome>;

/** Finding a top-level module imports nothing. */
const FIND = `
import importlib.util

def is_missing(name):
    try:
        return importlib.util.find_spec(name) is None
    except (ImportError, ValueError):
        return True

[name for name in context if is_missing(name)]
`;

/** Of these modules, those that an environment does not have. */
export async function missingIn(
  venvName: string | undefined,
  modules: readonly string[],
  probe: Probe,
  options: RunOptions = {},
): Promise<MissingImport[]> {
  if (modules.length === 0) return [];
  const request = { code: FIND, context: modules, ...(venvName !== undefined && { venvName }) };
  const { verdict, value } = await probe(request, options);
  const found = z.array(z.string()).safeParse(value?.json);
  if (found.success) return found.data.map(withPackage);
  if (verdict.kind === 'ok') throw new PungiError('INTERNAL_ERROR', 'The imports could not be looked up.');
  const code = 'code' in verdict ? verdict.code : 'INTERNAL_ERROR';
  throw new PungiError(code, verdict.message);
}

/** Of these modules, those that no requirement is for by its name. One may bring along what another is for. */
export function missingAmong(requirements: readonly string[], modules: readonly string[]): MissingImport[] {
  const named = new Set(requirements.map((one) => nameKey(/^[A-Za-z0-9._-]*/.exec(one.trim())![0])));
  return modules
    .map(withPackage)
    .filter(
      ({ module, package: name }) => !named.has(nameKey(module)) && !(name && named.has(nameKey(name))),
    );
}

const withPackage = (module: string): MissingImport => ({ module, package: distributionFor(module) });
const nameKey = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-');
