import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PungiError } from '@pungi/core/base';
import type { Outcome, PackageResult } from '@pungi/core/contract';
import { cutText, fitData, fitOutcome } from './fit.js';
import {
  contentBlocks,
  formatIssues,
  formatOutcome,
  formatPackages,
  type OutputStyle,
  text,
} from './format-outcome.js';

/** What the model reads (text) and what a program reads (the outcome itself), within the transports' limit. */
export function replyOutcome(outcome: Outcome, style: OutputStyle): CallToolResult {
  return fitOutcome(outcome, (fitting) => ({
    content: [...formatOutcome(fitting, style), ...contentBlocks(fitting)],
    structuredContent: withoutContent(fitting),
    isError: fitting.verdict.kind !== 'ok',
  }));
}

/** Pictures are told once, as what they are. */
function withoutContent(outcome: Outcome): Outcome {
  if (outcome.value?.content === undefined) return outcome;
  const { content: _, ...value } = outcome.value;
  return { ...outcome, value };
}

/** The same for everything that is not a run. */
export function replyData<Data extends object>(data: Data, word: (data: Data) => string): CallToolResult {
  return fitData(data, (fitting) => ({ content: [text(word(fitting))], structuredContent: { ...fitting } }));
}

const MAX_ERROR_CHARS = 64 * 1024;

interface Reasons {
  packages?: PackageResult[];
  issues?: string[];
  explanation?: string;
}

/** Nothing came of it: a code, a sentence, and what there is to say for each package or argument. */
export function replyError({ code, message, details }: PungiError): CallToolResult {
  const { packages, issues, explanation } = details as Reasons;
  const lines = [
    `${code}: ${message}`,
    ...formatPackages(packages, explanation),
    ...formatIssues(issues, message),
  ];
  return { content: [text(cutText(lines.join('\n'), MAX_ERROR_CHARS))], isError: true };
}

/** Nothing was run, so there is no outcome to repeat: a code, a sentence, and what is wrong with which argument. */
export function invalidArguments(faults: readonly string[]): CallToolResult {
  const lines = formatIssues(faults);
  return {
    content: [text(['INVALID_INPUT: The arguments do not fit the tool.', ...lines].join('\n'))],
    isError: true,
  };
}
