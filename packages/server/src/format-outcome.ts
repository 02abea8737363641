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
 * Formats an outcome for the model. full: everything; brief: the last line of a traceback, and stderr only after a failure;
 * value: the value, else the output, and one sentence for a failure.
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
  const hasShown = outcome.displays !== undefined;
  if (failure.length + output.length === 0 && !hasShown) output.push('The code ended without output.');
  return [...content, ...failure, ...output, ...formatFiles(outcome), ...formatSession(outcome)].map(text);
}

/** Pictures and other bytes that a function returned. */
export const contentBlocks = ({ runId, value, artifacts = [] }: Outcome): ContentBlock[] => [
  ...(value?.content ?? []).map(
    ({ kind, mimeType, base64 }, index): ContentBlock =>
      kind === 'bytes'
        ? { type: 'resource', resource: { uri: `pungi://run/${runId}/${index}`, mimeType, blob: base64 } }
        : { type: kind, data: base64, mimeType },
  ),
  ...artifacts.slice(0, MOST_FILES_LISTED).map(
    ({ path, size, mimeType }): ContentBlock => ({
      type: 'resource_link',
      uri: fileUri(runId, path),
      name: path,
      mimeType,
      size,
    }),
  ),
];

const MOST_FILES_LISTED = 20;

/** The address of a file of a run as a resource. */
const fileUri = (run: string, path: string): string =>
  `pungi://run/${run}/${path.split('/').map(encodeURIComponent).join('/')}`;

/** The files that the run left, and how to read them. */
function formatFiles({ artifacts = [], runId }: Outcome): string[] {
  if (artifacts.length === 0) return [];
  const shown = artifacts.slice(0, MOST_FILES_LISTED).map(({ path, size }) => `${path} (${size} bytes)`);
  const left = artifacts.length - shown.length;
  return [
    `Files, for read_file with run ${runId}: ${shown.join(', ')}${left > 0 ? `, and ${left} more` : ''}`,
  ];
}

/** The handle of a new session, and the end of any. */
function formatSession({ session }: Outcome): string[] {
  if (session === undefined) return [];
  if (!session.alive) return [`The session has ended, and its variables are gone. ${session.ended}`];
  return session.calls === 1 ? [`session: ${session.id}`] : [];
}

const formatNote = ({ note }: Value): string[] => (note === undefined ? [] : [`Note: ${note}`]);

/** Lines that come before the output. */
function formatBefore({ disclosure, cached, notes = [] }: Outcome): string[] {
  return [
    ...(disclosure === null ? [] : [disclosure.text]),
    ...notes.map((note) => `Note: ${note}`),
    ...(cached === null
      ? []
      : [
          `Not run again: this is the outcome of the same code from ${cached.at}. Pass fresh: true to run it again.`,
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

/** Leaves out a traceback that is already in `shownBefore`. */
function formatException(
  { traceback, hint }: PythonException,
  shownBefore: string,
  style: OutputStyle,
): string[] {
  const whole = traceback.trim();
  const shown = style === 'brief' ? (whole.split('\n').at(-1) ?? '') : traceback.trimEnd();
  return [
    ...(whole === '' || shownBefore.includes(shown.trim()) ? [] : [shown]),
    ...(hint === null ? [] : [hint]),
  ];
}

const MAX_WHY_CHARS = 8 * 1024;
const MAX_LISTED = 20;

/** A single violation is already in the sentence. */
function formatViolations(violations: readonly ScopeViolation[] = [], sentence: string): string[] {
  if (violations.length === 1 && sentence.includes(violations[0]!.message)) return [];
  const left = violations.length - MAX_LISTED;
  return [
    ...violations.slice(0, MAX_LISTED).map((violation) => `- ${placeOf(violation)}${violation.message}`),
    ...(left > 0 ? [`… and ${left} more`] : []),
  ];
}

const placeOf = ({ line, column }: ScopeViolation) => (line === null ? '' : `${line}:${column ?? 1} `);

/** Groups packages that share a reason. */
export function formatPackages(
  packages: readonly PackageResult[] | undefined,
  explanation: string | undefined,
): string[] {
  if (packages === undefined)
    return explanation === undefined ? [] : [cutText(explanation.trim(), MAX_WHY_CHARS)];
  const byReason = new Map<string, string[]>();
  for (const { package: name, why } of packages) {
    const reason = why ?? 'It could be installed on its own.';
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
