import { isWithin } from '../base/json-extent.js';

/** Of what a call tells, what is JSON: a value of a megabyte, and its repr. And what follows it. */
export const MAX_CALL_WORDS = 1.5 * 1024 * 1024;
/** Six megabytes as base64. */
export const MAX_ATTACHED = 4.5 * 1024 * 1024;
/** No honest report goes further: a value is a hundred deep at most, and has a hundred thousand parts (plain_data.py). */
const MOST = { depth: 110, parts: 120_000 };

/** Of a script with thousands of tools. */
export const MOST_DISCOVERED = { depth: 110, parts: 400_000 };

/** Undefined for what no honest worker sends: foreign JSON without bounds would keep the server busy for seconds. */
export function readReport(payload: Buffer, most = MOST): unknown {
  if (!isWithin(payload, most)) return undefined;
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined; // foreign code wrote to the channel
  }
}

/** JSON, a zero, and the bytes of pictures and such. */
export function readCallReport(payload: Buffer): { report: unknown; attached: Buffer } {
  const zero = payload.indexOf(0);
  const words = zero < 0 ? payload : payload.subarray(0, zero);
  const attached = zero < 0 ? Buffer.alloc(0) : payload.subarray(zero + 1);
  return { report: words.length <= MAX_CALL_WORDS ? readReport(words) : undefined, attached };
}
