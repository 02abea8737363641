import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Outcome, Value } from '@pungi/core/contract';

/** A message over 10 MiB ends a stdio connection; half of that leaves room for the envelope and for slow readers. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024;
/** The limit with pictures, which cannot be cut. */
const MAX_REPLY_WITH_CONTENT = 9 * 1024 * 1024;
/** Texts are cut to this length before pictures are left out. */
const MIN_TEXT_WITH_CONTENT = 16 * 1024;
const LONGEST_TEXT = 1024 * 1024;
/** One UTF-16 unit is at most six bytes of JSON. */
const WORST_BYTES_PER_UNIT = 6;
/** When texts are cut to some length, lists are cut to this fraction of it. */
const UNITS_PER_ITEM = 64;

type Format<Data> = (data: Data) => CallToolResult;

/** Formats the outcome. If the reply is too large for a message, cuts the outcome's texts until it fits. */
export function fitOutcome(
  outcome: Outcome,
  format: Format<Outcome>,
  maxBytes: number = roomFor(outcome),
): CallToolResult {
  return shrinkToFit(outcome, format, cutOutcome, maxBytes);
}

function roomFor({ value }: Outcome): number {
  const contents = (value?.content ?? []).reduce((sum, { base64 }) => sum + base64.length, 0);
  return Math.min(MAX_REPLY_BYTES + contents, MAX_REPLY_WITH_CONTENT);
}

/** Does the same for any other data, by cutting its texts and lists. */
export function fitData<Data>(
  data: Data,
  format: Format<Data>,
  maxBytes: number = MAX_REPLY_BYTES,
): CallToolResult {
  return shrinkToFit(data, format, cutData, maxBytes);
}

function shrinkToFit<Data>(
  data: Data,
  format: Format<Data>,
  cut: (data: Data, longest: number) => Data,
  maxBytes: number,
): CallToolResult {
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

function cutOutcome(outcome: Outcome, longest: number): Outcome {
  const cut = cutData(outcome, longest);
  for (const stream of ['stdout', 'stderr'] as const) {
    cut[stream].truncated ||= cut[stream].text !== outcome[stream].text;
  }
  // JSON stays whole or is removed: half of it would be a different value.
  if (cut.value?.json !== undefined && JSON.stringify(outcome.value?.json).length > longest)
    delete cut.value.json;
  else if (cut.value && outcome.value?.json !== undefined) cut.value.json = outcome.value.json;
  if (cut.value?.content !== undefined) cut.value = { ...cut.value, ...wholeContent(outcome, longest) };
  return cut;
}

/** Pictures stay whole or are left out, with a note. */
function wholeContent({ value }: Outcome, longest: number): Pick<Value, 'content' | 'note'> {
  const { content, note } = value!;
  if (longest >= MIN_TEXT_WITH_CONTENT) return { content };
  const leftOut = `Pictures and other contents (${content!.length}) were left out: the reply would be too large.`;
  return { content: [], note: note === undefined ? leftOut : `${note} ${leftOut}` };
}

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

/** Keeps the head and the tail around a marker. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - half).replace(/^[\udc00-\udfff]/, '');
  return `${head}\n[… ${text.length - head.length - tail.length} characters cut …]\n${tail}`;
}
