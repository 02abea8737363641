import { z } from 'zod';
import type { Config } from '../../config/schema.js';
import { advertiseArguments } from './advertise.js';
import { OUTCOME, REFUSED_OUTCOME } from './advertise-outcome.js';
import { answerRun } from './answer-run.js';
import { executeAnnotations } from './describe-sandbox.js';
import { fileArguments, toRunRequest } from './run-arguments.js';
import type { Tool } from './tool.js';

/** Where every call is refused, there is no need to tell the other arguments. */
const REFUSED_ARGUMENTS = z.strictObject({ filePath: z.string().describe('Its path.') });

export function executePythonFile(config: Config): Tool {
  const Arguments = fileArguments(config);
  const isOpen = config.scriptRoots.length > 0;
  const about = isOpen
    ? 'It is run as execute_python runs code: the same sandbox, packages, limits and errors. For code of your own use that.'
    : 'No folder is configured (SCRIPT_ROOTS), so every call is refused: use execute_python.';
  return {
    name: 'execute_python_file',
    title: 'Run a Python file',
    description: `Run a Python file that lies on this server as a script. ${about}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(isOpen ? Arguments : REFUSED_ARGUMENTS),
    outputSchema: isOpen ? OUTCOME : REFUSED_OUTCOME,
    answer: (args, call) =>
      answerRun(Arguments, args, call, ({ filePath, ...rest }) => toRunRequest({ file: filePath }, rest)),
  };
}
