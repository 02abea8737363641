import type { CallToolResult, TextContent } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Outcome, PythonException, Verdict } from '../contract/outcome.js';
import { fitOutcome } from './fit.js';

const text = (value: string): TextContent => ({ type: 'text', text: value });

/** What the model reads (text) and what a program reads (the outcome itself), within the transports' limit. */
export function replyOutcome(outcome: Outcome): CallToolResult {
  return fitOutcome(outcome, wordOutcome);
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
  if (verdict.kind === 'invalid') lines.push(...verdict.issues);
  return lines.join('\n');
}

const wordException = ({ traceback, hint }: PythonException, stderr: string): string[] => [
  ...(traceback !== '' && !stderr.includes(traceback.trim()) ? [traceback.trimEnd()] : []),
  ...(hint === null ? [] : [hint]),
];

const MAX_ISSUES = 20;

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
