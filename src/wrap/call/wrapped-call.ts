import { PungiError } from '../../base/errors.js';
import type { RunRequest } from '../../contract/run.js';
import { fitSchema } from '../schema/fit-schema.js';
import type { WrappedTool } from '../tools-folder/wrapped-script.js';
import { commandWords } from './command-words.js';

/** The run that a call of a wrapped tool is. Throws INVALID_INPUT for a command line with arguments that do not fit. */
export function wrappedCall(
  { spec, script, preload }: WrappedTool,
  args: Record<string, unknown>,
): RunRequest {
  const { code, filename, files, tools } = script;
  const request: RunRequest = {
    code,
    filename,
    ...(files.length > 0 && { files }),
    ...(preload.length > 0 && { preload: [...preload] }),
    ...(tools.environment !== null && { venvName: tools.environment }),
    ...(tools.profile !== null && { profile: tools.profile }),
  };
  if (spec.kind === 'function') {
    const { function: name, inputSchema } = spec;
    return { ...request, call: { function: name, arguments: args, inputSchema } };
  }
  const closed = { additionalProperties: false, ...spec.inputSchema };
  const { value, issues } = fitSchema(closed, args, { isLax: true });
  if (issues.length > 0)
    throw new PungiError('INVALID_INPUT', 'The arguments do not fit the tool.', { issues });
  const fitted = value as Record<string, unknown>;
  const stdin = spec.stdin === null ? undefined : fitted[spec.stdin];
  return {
    ...request,
    argv: commandWords(spec, fitted),
    ...(typeof stdin === 'string' && { stdin }),
  };
}
