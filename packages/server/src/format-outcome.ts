import type { ContentBlock, TextContent } from '@modelcontextprotocol/server';
import type {
  Outcome,
  PackageResult,
  Profile,
  PythonException,
  ScopeViolation,
  Value,
  Verdict,
} from '@pungi/core/contract';
import { cutText } from './fit.js';

export type OutputStyle = Profile['outputStyle'];
type Failure = Exclude<Verdict, { kind: 'ok' }>;

export const text = (value: string): TextContent => ({ type: 'text', text: value });

/**
 * What the model reads of an outcome. full: everything; brief: of a traceback its last line, and what was written to
 * stderr only where something failed; value: the value, else the output, and a failure in one sentence.
 */
export function formatOutcome(
  outcome: Outcome,
  style: OutputStyle = 'full',
  sentence?: string,
): TextContent[] {
  const { verdict } = outcome;
  const content = formatBefore(outcome);
  const failure = verdict.kind === 'ok' ? [] : [formatFailure(verdict, outcome.stderr.text, style, sentence)];
  const output = style === 'value' ? formatValue(outcome) : formatStreams(outcome, style);
  if (failure.length + output.length === 0) output.push('The code ended without output.');
  return [...content, ...failure, ...output].map(text);
}

/** Pictures and other bytes that a called function gave back. */
export const contentBlocks = ({ runId, value }: Outcome): ContentBlock[] =>
  (value?.content ?? []).map(({ kind, mimeType, base64 }, index) =>
    kind === 'bytes'
      ? { type: 'resource', resource: { uri: `pungi://run/${runId}/${index}`, mimeType, blob: base64 } }
      : { type: kind, data: base64, mimeType },
  );

const formatNote = ({ note }: Value): string[] => (note === undefined ? [] : [`Note: ${note}`]);

/** What a person should know before the output. */
function formatBefore({ disclosure, cached, notes = [] }: Outcome): string[] {
  return [
    ...(disclosure === null ? [] : [disclosure.text]),
    ...notes.map((note) => `Note: ${note}`),
    ...(cached === null
      ? []
      : [
          `Not run again: this is the outcome of the same code from ${cached.at}. Pass fresh: true to run it anew.`,
        ]),
  ];
}

function formatStreams({ verdict, stdout, value, stderr }: Outcome, style: OutputStyle): string[] {
  const showsErrors = stderr.text !== '' && (style === 'full' || verdict.kind !== 'ok');
  return [
    ...(stdout.text === '' ? [] : [stdout.text]),
    ...(value === null ? [] : [value.repr, ...formatNote(value)]),
    ...(showsErrors ? [`stderr:\n${stderr.text}`] : []),
  ];
}

function formatValue({ verdict, stdout, value }: Outcome): string[] {
  if (verdict.kind !== 'ok') return [];
  if (value !== null) return [value.repr, ...formatNote(value)];
  return stdout.text === '' ? [] : [stdout.text];
}

function formatFailure(
  verdict: Failure,
  stderr: string,
  style: OutputStyle,
  sentence = verdict.message,
): string {
  const lines = [`${verdict.code}: ${sentence}`];
  if (style === 'value') return lines.join('\n');
  if ('exception' in verdict && verdict.exception)
    lines.push(...formatException(verdict.exception, lines.join('\n') + stderr, style));
  if (verdict.kind === 'denied') lines.push(...formatViolations(verdict.violations, sentence));
  if (verdict.kind === 'invalid') lines.push(...formatIssues(verdict.issues, verdict.message));
  if (verdict.kind === 'no-environment') lines.push(...formatPackages(verdict.packages, verdict.explanation));
  return lines.join('\n');
}

/** Nothing that was said already. */
function formatException({ traceback, hint }: PythonException, said: string, style: OutputStyle): string[] {
  const whole = traceback.trim();
  const shown = style === 'brief' ? (whole.split('\n').at(-1) ?? '') : traceback.trimEnd();
  return [...(whole === '' || said.includes(shown.trim()) ? [] : [shown]), ...(hint === null ? [] : [hint])];
}

const MAX_WHY_CHARS = 8 * 1024;
const MAX_LISTED = 20;

/** A single one is said in the sentence already. */
function formatViolations(violations: readonly ScopeViolation[] = [], sentence: string): string[] {
  if (violations.length === 1 && sentence.includes(violations[0]!.message)) return [];
  const left = violations.length - MAX_LISTED;
  return [
    ...violations.slice(0, MAX_LISTED).map((violation) => `- ${placeOf(violation)}${violation.message}`),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ];
}

const placeOf = ({ line, column }: ScopeViolation) => (line === null ? '' : `${line}:${column ?? 1} `);

/** Where the same holds for several packages, it is said once. */
export function formatPackages(
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

export function formatIssues(issues: readonly string[] = [], message = ''): string[] {
  return issues
    .filter((issue) => !message.includes(issue))
    .slice(0, MAX_LISTED)
    .map((issue) => `- ${issue}`);
}
