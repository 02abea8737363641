import { z } from 'zod';
import { measureJson } from '../base/json-extent.js';
import { PythonException, type Value } from '../contract/outcome.js';
import { hintFor } from './hints.js';
import type { HintContext } from './missing-module.js';
import { refusalHint } from './refusal-hints.js';

/** The deepest JSON value that report.py sends. */
const MAX_VALUE_DEPTH = 100;

/** Twice the limits of the worker, which counts characters; longer values were written by foreign code. */
const MAX_REPORTED = {
  name: 500,
  message: 33_000,
  line: 2000,
  traceback: 66_000,
  repr: 132_000,
  json: 400_000,
};

const cut = (limit: number) => z.string().transform((text) => text.slice(0, limit));

/** Hints contain this name, so it must be nothing but a name. */
const MODULE_NAME = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}\p{Pc}.-]{0,199}$/u;

const ReportedException = PythonException.extend({
  type: cut(MAX_REPORTED.name),
  message: cut(MAX_REPORTED.message),
  text: cut(MAX_REPORTED.line).nullable(),
  traceback: cut(MAX_REPORTED.traceback),
  missingModule: z
    .string()
    .nullable()
    .transform((name) => (name !== null && MODULE_NAME.test(name) ? name : null)),
  isMemoryError: z.boolean().catch(false),
  isRaised: z.boolean().catch(false),
  isProfileImport: z.boolean().catch(false),
  errno: z.number().nullable().catch(null),
}).omit({ missingPackage: true, hint: true });

export interface ExceptionReport {
  exception: PythonException;
  isMemoryError: boolean;
  /** Raised by a statement of Python, not by the interpreter or the system. */
  isRaised: boolean;
  errno: number | null;
}

export function readException(report: unknown, where: HintContext): ExceptionReport | undefined {
  const data = part(report, 'exception', ReportedException);
  if (!data) return undefined;
  const { isMemoryError, isRaised, isProfileImport, errno, ...reported } = data;
  const advised = hintFor({ ...reported, isProfileImport }, where);
  const { type, message, traceback } = reported;
  const { tier = null, profile = null, allowedHosts = [] } = where;
  const refusal = { tier, profile, allowedHosts, errno, text: `${type}: ${message}`, traceback };
  const hint = advised.hint ?? refusalHint(refusal);
  const exception = { ...reported, missingPackage: advised.missingPackage, hint };
  return { exception, isMemoryError, isRaised, errno };
}

export function readValue(report: unknown, mostJson = MAX_REPORTED.json): Value | null {
  // Not by the schema of a value, which would traverse all of its JSON, however deep.
  const data = part(report, 'value', ReportedValue);
  if (!data) return null;
  const { json, ...shown } = data;
  return json === undefined || !isSmallJson(json, mostJson)
    ? shown
    : { ...shown, json: json as Value['json'] };
}

/** Returns why the last expression has no shown value, if so. */
export function readValueNotes(report: unknown): string[] {
  const data = part(report, 'valueError', ReportedName);
  return data === undefined
    ? []
    : [`The value of the last expression is not shown: its __repr__ raised ${data}.`];
}

/** Returns a part of a report if it is there and valid. Most are not there, and a schema that fails is slow. */
function part<Schema extends z.ZodType>(
  report: unknown,
  name: string,
  schema: Schema,
): z.infer<Schema> | undefined {
  const value = (report as Record<string, unknown> | undefined)?.[name];
  return value === undefined || value === null ? undefined : schema.safeParse(value).data;
}

const ReportedName = cut(MAX_REPORTED.name);

const ReportedValue = z.object({
  type: cut(MAX_REPORTED.name),
  repr: cut(MAX_REPORTED.repr),
  json: z.unknown().optional(),
});

/** A value this small can be serialized by every recipient of an outcome. */
const isSmallJson = (json: unknown, most: number): boolean =>
  isShallowReport(json) && JSON.stringify(json).length <= most;

/** Whether every reader can parse it: it is not nested too deeply, and all its numbers are finite. */
export function isShallowReport(json: unknown): boolean {
  const { depth, hasInfinity } = measureJson(json, MAX_VALUE_DEPTH);
  return depth <= MAX_VALUE_DEPTH && !hasInfinity;
}
