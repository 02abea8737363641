import type { CallToolResult } from '@modelcontextprotocol/server';
import type { OutputPart } from '@pungi/core';
import type { Config } from '@pungi/core/config';
import type { Outcome } from '@pungi/core/contract';

/** A message over 10 MiB ends a stdio connection; half of that leaves room for the envelope and for slow readers. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024;
/** The limit with pictures, which cannot be cut. */
const MAX_REPLY_WITH_CONTENT = 9 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;
/** One UTF-16 unit is at most six bytes of JSON. */
const WORST_BYTES_PER_UNIT = 6;
/** When texts are cut to some length, lists are cut to this fraction of it. */
const UNITS_PER_ITEM = 64;

/** The size of a reply: `chars` for text and structured content together, `imageBytes` for pictures. */
export interface Budget {
  chars: number;
  imageBytes: number;
}

export const budgetOf = ({ replyChars, replyImageBytes }: Config): Budget => ({
  chars: replyChars,
  imageBytes: replyImageBytes,
});

/** Links, and the braces around both halves of a reply. */
const ENVELOPE_CHARS = 400;

/** Text and structured content repeat each other for clients that show only one of them, so each has half of the budget. */
export const halfOf = ({ chars }: Budget): number => Math.floor((chars - ENVELOPE_CHARS) / 2);

type Cut<Data> = (data: Data, longest: number) => Data;

/** One half of a reply, and whether it shows less than there is. */
interface Half<Shown> {
  shown: Shown;
  isCut: boolean;
}

/** Formats data as JSON of at most so many characters, by cutting its texts and lists. */
export function fitHalf<Data, Shown>(
  data: Data,
  most: number,
  format: (data: Data) => Shown,
  cut: Cut<Data> = cutData,
): Half<Shown> {
  let shown = format(data);
  let isCut = false;
  for (let longest = most; JSON.stringify(shown).length > most && longest > 0; longest = less(longest)) {
    shown = format(cut(data, longest));
    isCut = true;
  }
  return { shown, isCut };
}

const less = (length: number) => Math.floor(length * 0.8);

/** Formats an outcome within the limit of a message, by cutting its texts. */
export function fitOutcome<Shown>(
  outcome: Outcome,
  format: (outcome: Outcome) => Shown,
  maxBytes: number = roomFor(outcome),
): Shown {
  return shrinkToFit(outcome, format, cutOutcome, maxBytes);
}

function roomFor({ value }: Outcome): number {
  const contents = (value?.content ?? []).reduce((sum, { base64 }) => sum + base64.length, 0);
  return Math.min(MAX_REPLY_BYTES + contents, MAX_REPLY_WITH_CONTENT);
}

/** Does the same for any other data, by cutting its texts and lists. */
export function fitData<Data>(
  data: Data,
  format: (data: Data) => CallToolResult,
  maxBytes: number = MAX_REPLY_BYTES,
): CallToolResult {
  return shrinkToFit(data, format, cutData, maxBytes);
}

function shrinkToFit<Data, Shown>(
  data: Data,
  format: (data: Data) => Shown,
  cut: Cut<Data>,
  maxBytes: number,
): Shown {
  let reply = format(data);
  if (roughUnits(reply) * WORST_BYTES_PER_UNIT < maxBytes) return reply;
  for (let longest = LONGEST_TEXT; jsonBytes(reply) > maxBytes && longest > 0; longest = halve(longest)) {
    reply = format(cut(data, longest));
  }
  return reply;
}

const halve = (length: number) => Math.floor(length / 2);
const jsonBytes = (data: unknown) => Buffer.byteLength(JSON.stringify(data));

/** Returns an upper bound of the text length, without serializing: most data is small. */
function roughUnits(data: unknown): number {
  if (typeof data === 'string') return data.length + 8;
  if (typeof data !== 'object' || data === null) return 24;
  return Object.entries(data).reduce((sum, [key, value]) => sum + key.length + 8 + roughUnits(value), 0);
}

/** Cuts the texts of an outcome. Pictures stay whole: they have a budget of their own. */
export function cutOutcome(outcome: Outcome, longest: number): Outcome {
  const cut = cutData(outcome, longest);
  for (const stream of ['stdout', 'stderr'] as const) {
    cut[stream].truncated ||= cut[stream].text !== outcome[stream].text;
  }
  if (cut.value === null || outcome.value === null) return cut;
  // JSON stays whole or is removed: half of it would be a different value.
  const { json, content } = outcome.value;
  if (json !== undefined && JSON.stringify(json).length > longest) delete cut.value.json;
  else if (json !== undefined) cut.value.json = json;
  if (content !== undefined) cut.value.content = content;
  return cut;
}

/** Does the same, and says in each cut output how to read the rest. */
export const cutReadable: Cut<Outcome> = (outcome, longest) => {
  const { runId, stdout, stderr, value, verdict } = outcome;
  const cut = cutOutcome(outcome, longest);
  const shorten = (part: OutputPart, text: string) =>
    cutText(text, longest, (left, offset) => {
      const args = JSON.stringify({ run: runId, ...(part !== 'stdout' && { part }), offset });
      return `… ${left} characters left out: read_output ${args} …`;
    });
  cut.stdout.text = shorten('stdout', stdout.text);
  cut.stderr.text = shorten('stderr', stderr.text);
  if (cut.value !== null) cut.value.repr = shorten('value', value!.repr);
  if ('exception' in verdict && verdict.exception && 'exception' in cut.verdict && cut.verdict.exception)
    cut.verdict.exception.traceback = shorten('traceback', verdict.exception.traceback);
  return cut;
};

function cutData<Data>(data: Data, longest: number): Data {
  return cutAny(data, longest) as Data;
}

function cutAny(data: unknown, longest: number): unknown {
  if (typeof data === 'string') return cutText(data, longest);
  if (Array.isArray(data)) {
    return data.slice(0, Math.ceil(longest / UNITS_PER_ITEM)).map((item) => cutAny(item, longest));
  }
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, cutAny(value, longest)]));
}

const CHARACTERS_CUT = (left: number) => `… ${left} characters cut …`;

/** Keeps the head and the tail around a marker. */
export function cutText(
  text: string,
  longest: number,
  marker: (left: number, offset: number) => string = CHARACTERS_CUT,
): string {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - half).replace(/^[\udc00-\udfff]/, '');
  const left = text.length - head.length - tail.length;
  return `${head}\n[${marker(left, head.length)}]\n${tail}`;
}
