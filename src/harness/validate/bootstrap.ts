import type { CompiledCode, PythonRunner } from './runner.js';

/** What judges is loaded in every worker already (python/pungi/harness); the job is the variable `context`. */
const CODE = `
import os
from pungi.harness import carry_out
os.remove(__file__)  # not a file of the script that is run

def judge():
    return carry_out(context)
`;

/** What each run calls, whatever script it is for. */
export const CALL = { function: 'judge', arguments: {} };

/** What is run for a script. Its packages are named above it, as the script names them, so that it gets their environment. */
export const bootstrapFor = (source: string): string => `${packagesOf(source)}${CODE}`;

export const compileBootstrap = (runner: PythonRunner, code: string): Promise<CompiledCode> =>
  runner.precompile(code, 'pungi_validator.py');

/** The comments that a `# /// script` block (PEP 723) is made of, on their own lines: what is wrong with it is told by its line. */
function packagesOf(source: string): string {
  if (!source.includes('# /// script')) return '';
  const lines = source.split(/\r\n|\r|\n/);
  return lines.map((line) => (line === '#' || line.startsWith('# ') ? line : '')).join('\n');
}
