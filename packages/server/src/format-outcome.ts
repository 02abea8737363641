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
import { ownTraceback } from './own-traceback.js';

export type OutputStyle = Profile['outputStyle'];
export type Failure = Exclude<Verdict, { kind: 'ok' }>;

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
  if (failure.length + output.length === 0 && !hasShown) output.push(NO_OUTPUT);
  return [...content, ...failure, ...output, ...formatFiles(outcome), ...formatSession(outcome)].map(text);
}

export const NO_OUTPUT = 'The code ended without output.';

/** Pictures and other bytes that a function returned. */
export const contentBlocks = ({ runId, value }: Outcome): ContentBlock[] =>
  (value?.content ?? []).map(({ kind, mimeType, base64 }, index) =>
    kind === 'bytes'
      ? { type: 'resource', resource: { uri: `pungi://run/${runId}/${index}`, mimeType, blob: base64 } }
      : { type: kind, data: base64, mimeType },
  );

/** Links to the files that the run left. */
export const fileLinks = ({ runId, artifacts = [] }: Outcome): ContentBlock[] =>
  artifacts.slice(0, MOST_FILES_LISTED).map(({ path, size, mimeType }) => ({
    type: 'resource_link',
    uri: fileUri(runId, path),
    name: path,
    mimeType,
    size,
  }));

export const MOST_FILES_LISTED = 20;

/** The address of a file of a run as a resource. */
const fileUri = (run: string, path: string): string =>
  `pungi://run/${run}/${path.split('/').map(encodeURIComponent).join('/')}`;

const FILES = 'Files, for read_file with run ';
const SESSION = 'session: ';

/** Whether a block of the reply comes after all that the run showed. */
export const isEnding = (block: string): boolean => block.startsWith(FILES) || block.startsWith(SESSION);

/** The files that the run left, and how to read them. */
function formatFiles({ artifacts = [], runId }: Outcome): string[] {
  if (artifacts.length === 0) return [];
  const shown = artifacts.slice(0, MOST_FILES_LISTED).map(({ path, size }) => `${path} (${size} bytes)`);
  const left = artifacts.length - shown.length;
  return [`${FILES}${runId}: ${shown.join(', ')}${left > 0 ? `, and ${left} more` : ''}`];
}

/** The handle of a new session, and the end of any. */
function formatSession(outcome: Outcome): string[] {
  const { session } = outcome;
  const isNew = session?.alive && session.calls === 1;
  return [...(isNew ? [`${SESSION}${session.id}`] : []), ...sessionNotes(outcome)];
}

/** Says whether the session has survived a call that was interrupted, and why it has ended. */
export function sessionNotes({ session, verdict }: Outcome): string[] {
  if (session === undefined) return [];
  if (!session.alive) return [`The session has ended, and its variables are gone. ${session.ended}`];
  return INTERRUPTED.has(verdict.kind) ? ['The session goes on, with its variables.'] : [];
}

const INTERRUPTED: ReadonlySet<Verdict['kind']> = new Set(['timed-out', 'cancelled', 'cpu-exceeded']);

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
  const showsErrors = stderr.text !== '' && showsStderr(verdict, style);
  return [
    ...(stdout.text === '' ? [] : [stdout.text]),
    ...(value === null ? [] : [value.repr, ...formatNote(value)]),
    ...(showsErrors ? [`stderr:\n${stderr.text}`] : []),
  ];
}

export const showsStderr = ({ kind }: Verdict, style: OutputStyle) =>
  style === 'full' || (style === 'brief' && kind !== 'ok');

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
  if ('exception' in verdict && verdict.exception) {
    const traceback = shownTraceback(verdict.exception, { sentence, stderr, style });
    const { hint } = verdict.exception;
    lines.push(...(traceback === null ? [] : [traceback]), ...(hint === null ? [] : [hint]));
  }
  if (verdict.kind === 'denied') lines.push(...formatViolations(verdict.violations, sentence));
  if (verdict.kind === 'invalid') lines.push(...formatIssues(verdict.issues, verdict.message));
  if (verdict.kind === 'no-environment') lines.push(...formatPackages(verdict.packages, verdict.explanation));
  return lines.join('\n');
}

/** What the reply shows beside a traceback. */
interface Beside {
  sentence: string;
  stderr: string;
  style: OutputStyle;
}

/** Returns what a traceback adds to the sentence and to stderr; null if that is nothing. */
export function shownTraceback(
  { traceback }: PythonException,
  { sentence, stderr, style }: Beside,
): string | null {
  const own = ownTraceback(traceback.trimEnd());
  const lines = own.split('\n');
  const last = lines.at(-1)!;
  const isSaid = sentence.includes(last.trim());
  if (style === 'value' || own.trim() === '') return null;
  if (style === 'brief') return isSaid || stderr.includes(last) ? null : last;
  if (stderr.includes(traceback.trim())) return null;
  const shown = isSaid ? lines.slice(0, -1) : lines;
  return shown.length > 1
    ? shown.join('\n')
    : (shown[0] ?? null) === 'Traceback (most recent call last):'
      ? null
      : (shown[0] ?? null);
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
