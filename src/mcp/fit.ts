import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Outcome } from '../contract/outcome.js';

/** A message over 10 MiB ends a stdio connection; half of that leaves room for the envelope and for slow readers. */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const LONGEST_TEXT = 1024 * 1024;
/** One UTF-16 unit is at most six bytes of JSON, and every text is there twice: in the text and in the outcome. */
const WORST_BYTES_PER_UNIT = 12;

/** Words the outcome; where that is too large for a message, cuts its texts until both halves of the reply fit. */
export function fitOutcome(
  outcome: Outcome,
  word: (outcome: Outcome) => CallToolResult,
  maxBytes: number = MAX_REPLY_BYTES,
): CallToolResult {
  let reply = word(outcome);
  if (roughUnits(outcome) * WORST_BYTES_PER_UNIT < maxBytes) return reply;
  for (let longest = LONGEST_TEXT; jsonBytes(reply) > maxBytes; longest = Math.floor(longest / 2)) {
    reply = word(cutTexts(outcome, longest));
  }
  return reply;
}

const jsonBytes = (data: unknown) => Buffer.byteLength(JSON.stringify(data));

/** At least the length of every text in the outcome: counted without serializing, since most outcomes are small. */
function roughUnits(data: unknown): number {
  if (typeof data === 'string') return data.length + 8;
  if (typeof data !== 'object' || data === null) return 24;
  return Object.entries(data).reduce((sum, [key, value]) => sum + key.length + 8 + roughUnits(value), 0);
}

function cutTexts(outcome: Outcome, longest: number): Outcome {
  const cut = mapTexts(outcome, (text) => cutText(text, longest)) as Outcome;
  for (const stream of ['stdout', 'stderr'] as const) {
    cut[stream].truncated ||= cut[stream].text !== outcome[stream].text;
  }
  // A value as JSON is whole or absent: half of it would be a different value.
  if (cut.value?.json !== undefined && JSON.stringify(outcome.value?.json).length > longest)
    delete cut.value.json;
  else if (cut.value && outcome.value?.json !== undefined) cut.value.json = outcome.value.json;
  return cut;
}

function mapTexts(data: unknown, change: (text: string) => string): unknown {
  if (typeof data === 'string') return change(data);
  if (Array.isArray(data)) return data.map((item) => mapTexts(item, change));
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, mapTexts(value, change)]));
}

/** The head and the tail around a marker. */
function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const head = text.slice(0, half).replace(/[\ud800-\udbff]$/, '');
  const tail = text.slice(text.length - half).replace(/^[\udc00-\udfff]/, '');
  return `${head}\n[… ${text.length - head.length - tail.length} characters cut …]\n${tail}`;
}
