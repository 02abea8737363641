import type { CompiledCode, PythonRunner } from './runner.js';

/** What judges is loaded in every worker already (python/pungi/harness); the job is the variable `context`. */
const CODE = `
from pungi.harness import carry_out

def judge():
    return carry_out(context)
`;

/** What each run calls, whatever script it is for. */
export const CALL = { function: 'judge', arguments: {} };

export const compileBootstrap = (runner: PythonRunner): Promise<CompiledCode> =>
  runner.precompile(CODE, 'pungi_validator.py');
