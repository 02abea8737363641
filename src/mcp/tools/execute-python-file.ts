import type { Config } from '../../config/schema.js';
import { Outcome } from '../../contract/outcome.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { advertiseArguments, advertiseResult } from './advertise.js';
import { answerRun } from './answer-run.js';
import { describeSandbox, executeAnnotations } from './describe-sandbox.js';
import { fileArguments, toRunRequest } from './run-arguments.js';
import type { Tool } from './tool.js';

export function executePythonFile(config: Config, profiles: Profiles): Tool {
  const Arguments = fileArguments(config, profiles);
  const where =
    config.scriptRoots.length > 0
      ? `Files may lie below: ${config.scriptRoots.join(', ')}.`
      : 'No folder is configured (SCRIPT_ROOTS), so every call is refused: use execute_python.';
  return {
    name: 'execute_python_file',
    title: 'Run a Python file',
    description: `Run a Python file of this server as a script. ${where}\n${describeSandbox(config, profiles)}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments),
    outputSchema: advertiseResult(Outcome),
    answer: (args, call) =>
      answerRun(Arguments, args, call, ({ filePath, ...rest }) =>
        toRunRequest({ file: filePath }, rest, call.who),
      ),
  };
}
