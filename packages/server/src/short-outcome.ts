import type { Outcome } from '@pungi/core/contract';
import { shownParts } from './displays.js';
import {
  type Failure,
  MOST_FILES_LISTED,
  NO_OUTPUT,
  type OutputStyle,
  sessionNotes,
  shownTraceback,
  showsStderr,
} from './format-outcome.js';

/** A picture that has no small part. */
const SHOWN = 'The code showed something that is not in here.';

/** Why a call failed, as data. */
export interface StructuredError {
  code: string;
  message: string;
  traceback?: string;
  hint?: string;
  details?: Record<string, unknown>;
}

/**
 * The structured content of a run, for clients that show a model nothing else: the result first, nothing that is empty,
 * nothing twice. The style of the profile holds as it does for the text.
 */
export function shortOutcome(
  outcome: Outcome,
  style: OutputStyle,
  sentence?: string,
): Record<string, unknown> {
  const { verdict, value, stdout, stderr, notes = [], cached, disclosure, session } = outcome;
  const isOk = verdict.kind === 'ok';
  const displays = shownParts(outcome);
  const files = (outcome.artifacts ?? []).slice(0, MOST_FILES_LISTED).map(({ path }) => path);
  const showsStdout = style !== 'value' || (isOk && value === null);
  const moreFiles = (outcome.artifacts ?? []).length - files.length;
  const allNotes = [
    ...notes,
    ...(value?.note === undefined ? [] : [value.note]),
    ...(moreFiles > 0 ? [`The run left ${moreFiles} more files.`] : []),
    ...sessionNotes(outcome),
  ];
  const shown = {
    ...(!isOk && { error: shortError(verdict, stderr.text, style, sentence) }),
    ...(isOk && value !== null && { value: value.json ?? value.repr }),
    ...(stdout.text !== '' && showsStdout && { stdout: stdout.text }),
    ...(stderr.text !== '' && showsStderr(verdict, style) && { stderr: stderr.text }),
    ...(displays.length > 0 && { displays }),
  };
  if (Object.keys(shown).length === 0) allNotes.push(outcome.displays ? SHOWN : NO_OUTPUT);
  return {
    ...shown,
    ...(files.length > 0 && { run: outcome.runId, files }),
    ...(session?.alive && { session: session.id }),
    ...(allNotes.length > 0 && { notes: allNotes }),
    ...(cached !== null && { cached: cached.at }),
    ...(disclosure !== null && { disclosure: disclosure.text }),
  };
}

/** The error of a run, as a reply shows it. */
export function shortError(
  verdict: Failure,
  stderr: string,
  style: OutputStyle,
  sentence = verdict.message,
): StructuredError {
  const { code } = verdict;
  const exception = 'exception' in verdict ? verdict.exception : undefined;
  const traceback = exception && shownTraceback(exception, { sentence, stderr, style });
  const { exception: _, ...details } = detailsOf(verdict);
  const more = Object.entries(details).filter(([, detail]) => !isIn(sentence, detail));
  return {
    code,
    message: sentence,
    ...(traceback && { traceback }),
    ...(exception?.hint && style !== 'value' && { hint: exception.hint }),
    ...(more.length > 0 && style !== 'value' && { details: Object.fromEntries(more) }),
  };
}

/** Whether the sentence has this text, or all texts of this list. */
const isIn = (sentence: string, detail: unknown): boolean =>
  Array.isArray(detail)
    ? detail.every((item) => isIn(sentence, item))
    : typeof detail === 'string' && sentence.includes(detail);

/** Everything about a failure besides its code and its message. */
export function detailsOf({ kind: _, code: __, message: ___, ...details }: Failure): Record<string, unknown> {
  return details;
}
