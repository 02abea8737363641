import { isWithin } from '../base/json-extent.js';

/** The limit of the JSON in a call's report: a value of a megabyte, and its repr. */
export const MAX_CALL_JSON = 1.5 * 1024 * 1024;
/** The limit of the attached bytes: six megabytes as base64. */
export const MAX_ATTACHED = 4.5 * 1024 * 1024;
/**
 * The limits of a regular report: a value is at most a hundred deep and has a hundred thousand parts (plain_data.py).
 */
const MOST = { depth: 110, parts: 120_000 };

/** For a script with thousands of tools. */
export const MOST_DISCOVERED = { depth: 110, parts: 400_000 };

/**
 * Returns undefined for reports that no regular worker sends: parsing unbounded JSON would block the server for
 * seconds.
 */
export function readReport(payload: Buffer, most = MOST): unknown {
  if (!isWithin(payload, most)) return undefined;
  try {
    return JSON.parse(payload.toString());
  } catch {
    return undefined; // foreign code wrote to the channel
  }
}

/** A call's report is JSON, a zero byte, and the bytes of images and other contents. */
export function readCallReport(payload: Buffer): { report: unknown; attached: Buffer } {
  const zero = payload.indexOf(0);
  const json = zero < 0 ? payload : payload.subarray(0, zero);
  const attached = zero < 0 ? Buffer.alloc(0) : payload.subarray(zero + 1);
  return { report: json.length <= MAX_CALL_JSON ? readReport(json) : undefined, attached };
}
