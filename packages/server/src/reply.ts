import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { OUTPUT_PARTS, type OutputPart } from '@pungi/core';
import type { PungiError } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';
import type { Outcome, PackageResult } from '@pungi/core/contract';
import { withPictures, withSmallDisplays } from './displays.js';
import { type Budget, cutReadable, fitData, fitHalf, fitOutcome, halfOf } from './fit.js';
import {
  contentBlocks,
  fileLinks,
  formatIssues,
  formatOutcome,
  formatPackages,
  type OutputStyle,
  text,
} from './format-outcome.js';
import { detailsOf, type StructuredError, shortOutcome } from './short-outcome.js';

/** Where a reply has what a program may want and no model needs. */
export const OUTCOME_META = 'pungi/outcome';
export const ERROR_META = 'pungi/error';
export const RESULT_META = 'pungi/result';

export interface ReplyOptions {
  style: OutputStyle;
  detail: Config['replyDetail'];
  budget: Budget;
  /** Replaces the message of a failure. */
  sentence?: string | undefined;
  /** Replaces both forms of the structured content. */
  structure?: (outcome: Outcome) => Record<string, unknown>;
  /** Keeps the whole output for read_output; returns whether it could. */
  keep?: (outcome: Outcome) => boolean;
  /** Whether the client knows links to resources. */
  hasLinks?: boolean;
}

/**
 * Builds the reply of a run. Text and structured content say the same, each within its half of the budget: some clients pass
 * only one of them on. Pictures are content of their own. The whole outcome is in `_meta`, for programs.
 */
export function replyOutcome(outcome: Outcome, options: ReplyOptions): CallToolResult {
  const { style, detail, budget, sentence, keep, hasLinks = true } = options;
  const ownStructure = (fitting: Outcome) =>
    detail === 'full' ? fitting : shortOutcome(fitting, style, sentence);
  const { structure = ownStructure } = options;
  const pictured = withinImages(withSmallDisplays(outcome), budget);
  const plain = withoutContent(pictured);
  const files = hasLinks ? fileLinks(outcome) : [];
  const half = halfOf({ ...budget, chars: budget.chars - JSON.stringify(files).length });
  let shownStdout = '';
  const format = (fitting: Outcome) => {
    shownStdout = fitting.stdout.text;
    return formatOutcome(fitting, style, sentence);
  };
  const said = fitHalf(plain, half, format, cutReadable);
  const structured = fitHalf(plain, half, structure, cutReadable);
  const isKept = (said.isCut || structured.isCut) && (keep?.(outcome) ?? false);
  const links = isKept && hasLinks ? linksTo(outcome) : [];
  const blocks = [...said.shown, ...contentBlocks(pictured)];
  return {
    content: [...withPictures(blocks, outcome, shownStdout, imageRoom(pictured, budget)), ...files, ...links],
    structuredContent: structured.shown as Record<string, unknown>,
    isError: outcome.verdict.kind !== 'ok',
    _meta: { [OUTCOME_META]: fitOutcome(pictured, withoutContent), ...errorMeta(outcome, budget) },
  };
}

/** Pictures travel once, as content blocks. */
function withoutContent(outcome: Outcome): Outcome {
  if (outcome.value?.content === undefined) return outcome;
  const { content: _, ...value } = outcome.value;
  return { ...outcome, value };
}

/** What the contents of the value leave for displays. */
export const imageRoom = ({ value }: Outcome, { imageBytes }: Budget) =>
  (value?.content ?? []).reduce((room, { base64 }) => room - base64.length, imageBytes);

/** Leaves out the pictures that are beyond the budget, with a note. */
export function withinImages(outcome: Outcome, { imageBytes }: Budget): Outcome {
  const { value } = outcome;
  if (!value?.content?.length) return outcome;
  let room = imageBytes;
  const content = value.content.filter(({ base64 }) => {
    if (base64.length > room) return false;
    room -= base64.length;
    return true;
  });
  const left = value.content.length - content.length;
  if (left === 0) return outcome;
  const leftOut = `Pictures and other contents (${left}) were left out: the reply would be too large.`;
  const note = value.note === undefined ? leftOut : `${value.note} ${leftOut}`;
  return { ...outcome, value: { ...value, content, note } };
}

export const outputUri = (runId: string, part: OutputPart) => `pungi://output/${runId}/${part}`;

/** A shorter output is shown in full by every budget. */
const ALWAYS_SHOWN = 500;

/** Links to the outputs of a run that did not fit. */
export function linksTo({ runId, stdout, stderr, value, verdict }: Outcome): ContentBlock[] {
  const texts: Record<OutputPart, string> = {
    stdout: stdout.text,
    stderr: stderr.text,
    value: value?.repr ?? '',
    traceback: ('exception' in verdict && verdict.exception?.traceback) || '',
  };
  return OUTPUT_PARTS.filter((part) => texts[part].length > ALWAYS_SHOWN).map((part) => ({
    type: 'resource_link',
    uri: outputUri(runId, part),
    name: part,
    mimeType: 'text/plain',
  }));
}

/** Builds the reply of every tool that is not a run. What did not fit is in `_meta`. */
export function replyData<Data extends object>(
  data: Data,
  format: (data: Data) => string,
  budget: Budget,
): CallToolResult {
  const half = halfOf(budget);
  const said = fitHalf(data, half, (fitting) => [text(format(fitting))]);
  const structured = fitHalf(data, half, (fitting) => ({ ...fitting }));
  const isCut = said.isCut || structured.isCut;
  return fitData(data, (fitting) => ({
    content: said.shown,
    structuredContent: structured.shown,
    ...(isCut && { _meta: { [RESULT_META]: fitting } }),
  }));
}

interface Reasons {
  packages?: PackageResult[];
  issues?: string[];
  explanation?: string;
}

type Failed = Pick<PungiError, 'code' | 'message' | 'details'>;

/** An error reply: a code, a sentence, and the reasons for each package or argument; all of it as data, too. */
export function replyError({ code, message, details }: Failed, budget: Budget): CallToolResult {
  const half = halfOf(budget);
  const said = fitHalf({ message, details }, half, (fitting) => {
    const { packages, issues, explanation } = fitting.details as Reasons;
    const lines = [
      `${code}: ${fitting.message}`,
      ...formatPackages(packages, explanation),
      ...formatIssues(issues, fitting.message),
    ];
    return [text(lines.join('\n'))];
  });
  const structured = fitHalf({ message, details }, half, (fitting) => ({
    error: structuredError({ code, ...fitting }),
  }));
  return {
    content: said.shown,
    structuredContent: structured.shown,
    isError: true,
    _meta: metaOf(structured.shown.error),
  };
}

const structuredError = ({ code, message, details }: Failed): StructuredError => ({
  code,
  message,
  ...(Object.keys(details).length > 0 && { details }),
});

const metaOf = ({ code, message, details = {} }: StructuredError) => ({
  [ERROR_META]: { code, message, details },
});

/** The failure of a run as every failed call has it. */
export function errorMeta({ verdict }: Outcome, budget: Budget): Record<string, unknown> {
  if (verdict.kind === 'ok') return {};
  const { code, message } = verdict;
  const { exception, ...details } = detailsOf(verdict) as { exception?: { traceback?: string } };
  const { traceback: _, ...about } = exception ?? {};
  const error = { code, message, details: { ...details, ...(exception && { exception: about }) } };
  return { [ERROR_META]: fitHalf(error, halfOf(budget), (fitting) => fitting).shown };
}

/**
 * The reply to invalid arguments. Nothing ran, so there is no outcome: a code, a sentence, and what is wrong
 * with each argument.
 */
export const invalidArguments = (issues: readonly string[], budget: Budget): CallToolResult =>
  replyError(
    { code: 'INVALID_INPUT', message: 'The arguments are not valid.', details: { issues: [...issues] } },
    budget,
  );
