import type { Config } from '../../config/schema.js';
import type { Profiles } from '../../gate/profiles/profiles.js';
import { advertiseArguments } from './advertise.js';
import { OUTCOME } from './advertise-outcome.js';
import { answerRun } from './answer-run.js';
import { describeSandbox, executeAnnotations } from './describe-sandbox.js';
import { codeArguments, toRunRequest } from './run-arguments.js';
import type { Tool } from './tool.js';

export function executePython(config: Config, profiles: Profiles): Tool {
  const Arguments = codeArguments(config, profiles);
  return {
    name: 'execute_python',
    title: 'Run Python code',
    description: `Run Python code and return its output and the value of its last expression, as in a notebook.\n${describeSandbox(config, profiles)}`,
    annotations: executeAnnotations(config),
    inputSchema: advertiseArguments(Arguments),
    outputSchema: OUTCOME,
    answer: (args, call) =>
      answerRun(Arguments, args, call, ({ code, ...rest }) => toRunRequest({ code }, rest)),
  };
}
