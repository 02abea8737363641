import type { z } from 'zod';
import { kindOf } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { jsonFaults } from '../base/issue-text.js';
import { surelyFits } from '../base/utf8.js';
import { MAX_CODE_BYTES, RunRequest, TOGETHER } from '../contract/run.js';

/** Parses a request. Throws INVALID_INPUT with every fault. */
export function parseRequest(raw: unknown): RunRequest {
  if (typeof raw !== 'object' || raw === null)
    throw invalidRequest([`expected an object, got ${kindOf(raw)}`]);
  const many = tooMany(raw);
  if (many.length > 0) throw invalidRequest(many);
  const plain = parsePresent(raw, RunRequest, areTogether);
  if (plain !== undefined) return plain;
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalidRequest(jsonFaults(parsed.error, RunRequest));
}

export const invalidRequest = (issues: string[]): PungiError =>
  new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });

/**
 * Parses a plain object without faults. Every run waits for this, and most requests have two or three of many fields, so only
 * those that are present are checked. Returns undefined for anything else, which the schema of the whole then reports.
 */
export function parsePresent<Schema extends z.ZodObject>(
  raw: unknown,
  { shape }: Schema,
  holds: (parsed: z.output<Schema>) => boolean,
): z.output<Schema> | undefined {
  if (typeof raw !== 'object' || raw === null || Object.getPrototypeOf(raw) !== Object.prototype) return;
  const parsed: Record<string, unknown> = {};
  for (const name of Object.keys(raw)) {
    const value = (raw as Record<string, unknown>)[name];
    if (!Object.hasOwn(shape, name)) return;
    // The schema would count the bytes, and most code is short.
    if (name === 'code' && typeof value === 'string' && surelyFits(value, MAX_CODE_BYTES)) {
      parsed[name] = value;
      continue;
    }
    const field = (shape[name] as z.ZodType).safeParse(value);
    if (!field.success) return;
    parsed[name] = field.data;
  }
  const whole = parsed as z.output<Schema>;
  return holds(whole) ? whole : undefined;
}

const areTogether = (request: RunRequest) => TOGETHER.every(([holds]) => holds(request));

/**
 * The most entries of lists and maps in a request. Checked before the schema, which would report each entry
 * separately.
 */
const MOST = new Map([
  ['inputData', 100_000],
  ['argv', 1024],
  ['files', 1000],
  ['preload', 1000],
  ['packages', 200],
  ['env', 1000],
  ['limits', 100],
]);
const MOST_ARGUMENTS = 1000;
/** More invalid lines than this are reported as one fault. */
const MOST_FAULTY = 20;

/** Returns the faults of oversized fields; the schema reports anything that is not an object. */
export function tooMany(request: unknown): string[] {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) return [];
  const names = Object.keys(request);
  if (names.length > MOST_ARGUMENTS)
    return [`has ${names.length} arguments; expected at most ${MOST_ARGUMENTS}`];
  return names.flatMap((name) => {
    const most = MOST.get(name);
    const value = (request as Record<string, unknown>)[name];
    if (most === undefined || typeof value !== 'object' || value === null) return [];
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    if (size > most)
      return [`${name}: must have at most ${most} ${Array.isArray(value) ? 'items' : 'names'}`];
    if (!Array.isArray(value)) return [];
    return name === 'inputData' ? faultyLines(value) : name === 'files' ? faultyFiles(value) : [];
  });
}

function faultyLines(lines: readonly unknown[]): string[] {
  const faulty = lines.reduce<number>((sum, line) => sum + (typeof line === 'string' ? 0 : 1), 0);
  return faulty > MOST_FAULTY ? [`inputData: ${faulty} items are not texts`] : [];
}

function faultyFiles(files: readonly unknown[]): string[] {
  const index = files.findIndex((file) => Object.keys(Object(file)).length > MOST_FAULTY);
  return index < 0
    ? []
    : [`files.${index}: must have a path, and one of text, base64 and upload, and nothing else`];
}
