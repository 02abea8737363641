import type { CallToolResult, TextContent } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { PungiError } from '../base/errors.js';
import type { PackageResult } from '../contract/environment.js';
import type { Outcome, PythonException, Verdict } from '../contract/outcome.js';
import { cutText, fitData, fitOutcome } from './fit.js';

const text = (value: string): TextContent => ({ type: 'text', text: value });

/** What the model reads (text) and what a program reads (the outcome itself), within the transports' limit. */
export function replyOutcome(outcome: Outcome): CallToolResult {
  return fitOutcome(outcome, wordOutcome);
}

/** The same for everything that is not a run. */
export function replyData<Data extends object>(data: Data, word: (data: Data) => string): CallToolResult {
  return fitData(data, (fitting) => ({ content: [text(word(fitting))], structuredContent: { ...fitting } }));
}

/** Nothing came of it: a code, a sentence, and what there is to say for each package or argument. */
export function replyError({ code, message, details }: PungiError): CallToolResult {
  const { packages, issues, explanation } = details as Reasons;
  const lines = [
    `${code}: ${message}`,
    ...wordPackages(packages, explanation),
    ...wordIssues(issues, message),
  ];
  return { content: [text(cutText(lines.join('\n'), MAX_ERROR_CHARS))], isError: true };
}

export function wordOutcome(outcome: Outcome): CallToolResult {
  const { verdict, stdout, value, stderr } = outcome;
  const content: TextContent[] = [];
  if (verdict.kind !== 'ok') content.push(text(wordFailure(verdict, stderr.text)));
  if (stdout.text !== '') content.push(text(stdout.text));
  if (value !== null) content.push(text(value.repr));
  if (stderr.text !== '') content.push(text(`stderr:\n${stderr.text}`));
  if (content.length === 0) content.push(text('The code ended without output.'));
  return { content, structuredContent: outcome, isError: verdict.kind !== 'ok' };
}

function wordFailure(verdict: Exclude<Verdict, { kind: 'ok' }>, stderr: string): string {
  const lines = [`${verdict.code}: ${verdict.message}`];
  if ('exception' in verdict && verdict.exception) lines.push(...wordException(verdict.exception, stderr));
  if (verdict.kind === 'invalid') lines.push(...wordIssues(verdict.issues, verdict.message));
  if (verdict.kind === 'no-environment') lines.push(...wordPackages(verdict.packages, verdict.explanation));
  return lines.join('\n');
}

const wordException = ({ traceback, hint }: PythonException, stderr: string): string[] => [
  ...(traceback !== '' && !stderr.includes(traceback.trim()) ? [traceback.trimEnd()] : []),
  ...(hint === null ? [] : [hint]),
];

const MAX_ERROR_CHARS = 64 * 1024;
const MAX_WHY_CHARS = 8 * 1024;
const MAX_ISSUES = 20;

interface Reasons {
  packages?: PackageResult[];
  issues?: string[];
  explanation?: string;
}

/** Where the same holds for several packages, it is said once. */
function wordPackages(
  packages: readonly PackageResult[] | undefined,
  explanation: string | undefined,
): string[] {
  if (packages === undefined)
    return explanation === undefined ? [] : [cutText(explanation.trim(), MAX_WHY_CHARS)];
  const byReason = new Map<string, string[]>();
  for (const { package: name, why } of packages) {
    const reason = why ?? 'It could be installed by itself.';
    byReason.set(reason, [...(byReason.get(reason) ?? []), name]);
  }
  return [...byReason].map(
    ([reason, names]) => `- ${names.join(', ')}: ${cutText(reason.trim(), MAX_WHY_CHARS)}`,
  );
}

function wordIssues(issues: readonly string[] = [], message: string): string[] {
  return issues
    .filter((issue) => !message.includes(issue))
    .slice(0, MAX_ISSUES)
    .map((issue) => `- ${issue}`);
}

/** Nothing was run, so there is no outcome to repeat: a code, a sentence, and what is wrong with which argument. */
export function invalidArguments({ issues }: z.ZodError): CallToolResult {
  const lines = issues
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => `- ${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`);
  return {
    content: [text(['INVALID_INPUT: The arguments do not fit the tool.', ...lines].join('\n'))],
    isError: true,
  };
}
