import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Pungi } from '@pungi/core';
import { PungiError, similarName, writeAtomically } from '@pungi/core/base';
import { nameKey } from '@pungi/core/environments';
import { z } from 'zod';
import type { OwnScript } from './read-script.js';

/** Its files are hidden, so that the tools folder offers them only where a registration names them. */
const PROGRAMS_FOLDER = '.programs';

const FIND_PROGRAMS = `
from importlib.metadata import distributions
[
    {"name": one.name, "value": one.value, "package": each.metadata["Name"]}
    for each in distributions() for one in each.entry_points if one.group == "console_scripts"
]
`;

const Programs = z.array(z.object({ name: z.string(), value: z.string(), package: z.string() }));
type Program = z.infer<typeof Programs>[number];

/** MODULE:OBJECT, as entry points name what they call. */
const ENTRY_POINT = /^(?<module>\w+(\.\w+)*):(?<object>\w+)(?<rest>(\.\w+)*)( *\[.*\])?$/;

/** Whether the operand of `pungi wrap` names a program of an environment: `pygmentize`, or `pygments:pygmentize`. */
export const isProgram = (operand: string, environment: string | undefined): boolean =>
  environment !== undefined && /^[\w.-]+(:[\w.-]+)?$/.test(operand) && !existsSync(operand);

/** Writes the script that starts a console script of an environment, as its file in `bin` does. */
export async function readProgram(
  pungi: Pungi,
  operand: string,
  environment: string,
  toolsFolder: string,
): Promise<OwnScript> {
  const { name, value } = await findProgram(pungi, operand, environment);
  const { module, object, rest } = ENTRY_POINT.exec(value)?.groups ?? {};
  if (module === undefined)
    throw invalid(`The program "${name}" has an entry point that is not valid: ${value}.`);
  const code = [
    `"""The program ${name} of its environment."""`,
    'import sys',
    `from ${module} import ${object}`,
    'if __name__ == "__main__":',
    `    sys.argv[0] = "${name}"`,
    `    sys.exit(${object}${rest}())`,
    '',
  ].join('\n');
  const folder = join(toolsFolder, PROGRAMS_FOLDER);
  mkdirSync(folder, { recursive: true });
  // Not the name of a package that the program imports.
  const filename = `${name.replaceAll(/[^\w]/g, '_')}_program.py`;
  const path = join(folder, filename);
  writeAtomically(path, code);
  return { path, filename, code };
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

const invalid = (message: string) => new PungiError('INVALID_INPUT', message);
