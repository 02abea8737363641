import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Pungi } from '@pungi/core';
import {
  countText,
  fileProblem,
  makeFolders,
  oneLine,
  PungiError,
  similarName,
  writeAtomically,
} from '@pungi/core/base';
import { MAX_CODE_BYTES } from '@pungi/core/contract';
import { nameKey } from '@pungi/core/environments';
import { type MissingImport, toolsNameOf } from '@pungi/wrap';
import { z } from 'zod';
import { asText, readOwnFile } from '../own-files.js';

export interface OwnScript {
  /** The real path of the file. */
  path: string;
  filename: string;
  code: string;
  /** The name of its tools; default: its file name. */
  name?: string;
  /** The package that it is a program of. */
  requirement?: string;
}

/** Reads a script of the user. */
export function readOwnScript(file: string): OwnScript {
  if (file.endsWith('.ipynb'))
    throw invalid(
      `${file} is a notebook, not a script: export it first (jupyter nbconvert --to script ${file}).`,
    );
  checkFile(file);
  const content = readOwnFile(file);
  if (content.includes(0)) throw invalid(`${file} is not a Python script: it is not text.`);
  const path = realpathSync(file);
  return { path, filename: basename(path), code: asText(content, file) };
}

/** Returns the included files by their paths relative to the script's folder. */
export const includedPaths = ({ path: script }: OwnScript, paths: readonly string[] | undefined) =>
  paths?.map((path) => {
    const found = relative(dirname(script), realPlace(path)).replaceAll(sep, '/');
    if (found === '' || found === '..' || found.startsWith('../') || isAbsolute(found))
      throw invalid(`Cannot include ${path}: it is not below the folder of the script.`);
    return found;
  });

/** Resolves the folder of a path, but not a link itself. */
function realPlace(path: string): string {
  try {
    return join(realpathSync(dirname(resolve(path))), basename(resolve(path)));
  } catch (error) {
    throw invalid(`Cannot include ${path}: ${fileProblem(error)}.`);
  }
}

/** Checks before reading: a pipe or a device has no end, and no folder with other modules. */
function checkFile(file: string): void {
  const state = stateOf(file);
  if (state === undefined || state.isDirectory()) return;
  if (!state.isFile()) throw invalid(`${file} is not a regular file.`);
  if (state.size > MAX_CODE_BYTES)
    throw invalid(`${file} is larger than ${MAX_CODE_BYTES} bytes, the limit for code.`);
}

/** Returns undefined if the file cannot be examined: reading it then reports the reason. */
function stateOf(file: string) {
  try {
    return statSync(file);
  } catch {
    return undefined;
  }
}

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);

/** Lists missing imports and how to install them; empty if there are none. */
export function missingLines(missing: readonly MissingImport[], environment: string | null): string[] {
  if (missing.length === 0) return [];
  const packages = [...new Set(missing.flatMap(({ package: name }) => name ?? []))];
  const names = missing.map(({ module, package: name }) =>
    name === null || name === module.toLowerCase().replaceAll('_', '-')
      ? module
      : `${module} (package ${name})`,
  );
  const what = `${countText(missing.length, 'import')} ${missing.length === 1 ? 'is' : 'are'} missing`;
  if (environment === null) {
    return [
      `${what} in the dependencies of the script: ${names.join(', ')}`,
      'Add it to the "# /// script" block, unless another dependency installs it.',
    ];
  }
  const advice = missing.every(({ package: name }) => name !== null)
    ? [`Install with: pungi env install ${environment} ${packages.join(' ')}`]
    : [`Install their packages with: pungi env install ${environment} ${[...packages, '…'].join(' ')}`];
  return [`${what} in the environment "${environment}": ${names.join(', ')}`, ...advice];
}

/** Its files are hidden, so that the tools folder offers them only where a registration names them. */
const PROGRAMS_FOLDER = '.programs';

const FIND_PROGRAMS = `
from importlib.metadata import distributions
[
    {"name": one.name, "value": one.value, "package": each.metadata["Name"], "version": each.version,
     "summary": each.metadata["Summary"] or ""}
    for each in distributions() for one in each.entry_points if one.group == "console_scripts"
]
`;

const Programs = z.array(
  z.object({
    name: z.string(),
    value: z.string(),
    package: z.string(),
    version: z.string(),
    summary: z.string(),
  }),
);
type Program = z.infer<typeof Programs>[number];

/** MODULE:OBJECT, as entry points name what they call. */
const ENTRY_POINT = /^(?<module>\w+(\.\w+)*):(?<object>\w+)(?<rest>(\.\w+)*)( *\[.*\])?$/;

/** Whether the operand of `pungi wrap --env` names a program: `pygmentize`, or `pygments:pygmentize`. */
export const isProgram = (operand: string): boolean =>
  /^[\w.-]+(:[\w.-]+)?$/.test(operand) && !existsSync(operand);

/** Makes the script that starts a console script of an environment, as its file in `bin` does. */
export async function readProgram(
  pungi: Pungi,
  operand: string,
  environment: string,
  toolsFolder: string,
): Promise<OwnScript> {
  const program = await findProgram(pungi, operand, environment);
  // Not the name of a package that the program imports.
  const filename = `${program.name.replaceAll(/[^\w]/g, '_')}_program.py`;
  const path = join(toolsFolder, PROGRAMS_FOLDER, filename);
  return {
    path,
    filename,
    code: codeOf(program),
    name: toolsNameOf(program.name),
    requirement: `${program.package}==${program.version}`,
  };
}

/** Writes it where the server finds it. */
export function keepProgram({ path, code }: OwnScript): void {
  makeFolders(dirname(path));
  writeAtomically(path, code);
}

/** Texts of the package are literals: JSON strings are strings of Python as well. */
function codeOf({ name, value, package: owner, summary }: Program): string {
  const { module, object, rest } = ENTRY_POINT.exec(value)?.groups ?? {};
  if (module === undefined)
    throw invalid(`The program "${name}" has an entry point that is not valid: ${value}.`);
  return [
    JSON.stringify(oneLine(summary) || `The program ${name} of ${owner}.`),
    'import sys',
    `from ${module} import ${object}`,
    'if __name__ == "__main__":',
    `    sys.argv[0] = "${name}"`,
    `    sys.exit(${object}${rest}())`,
    '',
  ].join('\n');
}

async function findProgram(pungi: Pungi, operand: string, environment: string): Promise<Program> {
  const outcome = await pungi.probe({ code: FIND_PROGRAMS, venvName: environment });
  const { verdict } = outcome;
  if (verdict.kind !== 'ok') {
    const code = 'code' in verdict ? verdict.code : 'PYTHON_ERROR';
    throw new PungiError(code, 'message' in verdict ? verdict.message : 'The programs could not be listed.');
  }
  const programs = Programs.parse(outcome.value?.json ?? []);
  const [wanted, of] = operand.split(':').reverse() as [string, string | undefined];
  const found = programs.find(
    ({ name, package: owner }) => name === wanted && nameKey(of ?? owner) === nameKey(owner),
  );
  if (found !== undefined) return found;
  const similar = similarName(
    wanted,
    programs.map(({ name }) => name),
  );
  const advice = similar === undefined ? listOf(programs) : `Do you mean "${similar}"?`;
  throw invalid(
    `There is no file ${operand}, and the environment "${environment}" has no program of that name. ${advice}`,
  );
}

const listOf = (programs: readonly Program[]) =>
  programs.length === 0
    ? 'It has none.'
    : `It has: ${programs
        .map(({ name }) => name)
        .sort()
        .join(', ')}.`;
