import type { CallToolResult } from '@modelcontextprotocol/server';
import type { PungiError } from '@pungi/core/base';
import type { Outcome, PackageResult } from '@pungi/core/contract';
import { withPictures, withSmallDisplays } from './displays.js';
import { cutText, fitData, fitOutcome } from './fit.js';
import {
  contentBlocks,
  formatIssues,
  formatOutcome,
  formatPackages,
  type OutputStyle,
  text,
} from './format-outcome.js';

/**
 * A reply has two halves within the transports' limit: text for the model, and the outcome itself for
 * programs.
 */
export function replyOutcome(outcome: Outcome, style: OutputStyle): CallToolResult {
  let shownStdout = '';
  const reply = fitOutcome(withSmallDisplays(outcome), (fitting) => {
    shownStdout = fitting.stdout.text;
    return {
      content: [...formatOutcome(fitting, style), ...contentBlocks(fitting)],
      structuredContent: withoutContent(fitting),
      isError: fitting.verdict.kind !== 'ok',
    };
  });
  return { ...reply, content: withPictures(reply.content, outcome, shownStdout) };
}

/** Pictures travel once, as content blocks. */
function withoutContent(outcome: Outcome): Outcome {
  if (outcome.value?.content === undefined) return outcome;
  const { content: _, ...value } = outcome.value;
  return { ...outcome, value };
}

/** Builds the reply of every tool that is not a run. */
export function replyData<Data extends object>(data: Data, format: (data: Data) => string): CallToolResult {
  return fitData(data, (fitting) => ({
    content: [text(format(fitting))],
    structuredContent: { ...fitting },
  }));
}

const MAX_ERROR_CHARS = 64 * 1024;

interface Reasons {
  packages?: PackageResult[];
  issues?: string[];
  explanation?: string;
}

/** An error reply: a code, a sentence, and the reasons for each package or argument. */
export function replyError({ code, message, details }: PungiError): CallToolResult {
  const { packages, issues, explanation } = details as Reasons;
  const lines = [
    `${code}: ${message}`,
    ...formatPackages(packages, explanation),
    ...formatIssues(issues, message),
  ];
  return { content: [text(cutText(lines.join('\n'), MAX_ERROR_CHARS))], isError: true };
}

/**
 * The reply to invalid arguments. Nothing ran, so there is no outcome: a code, a sentence, and what is wrong
 * with each argument.
 */
export function invalidArguments(faults: readonly string[]): CallToolResult {
  const lines = formatIssues(faults);
  return {
    content: [text(['INVALID_INPUT: The arguments are not valid.', ...lines].join('\n'))],
    isError: true,
  };
}
