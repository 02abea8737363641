import { z } from 'zod';
import { measureJson } from '../base/json-extent.js';
import { PythonException, type Value } from '../contract/outcome.js';
import { hintFor } from './hints.js';
import type { Whereabouts } from './missing-module.js';
import { refusalHint } from './refusal-hints.js';

/** How deep the JSON of a value may be nested; report.py gives none that is deeper. */
const MAX_VALUE_DEPTH = 100;

/** Twice what the worker cuts its own words to, since it counts characters; what is longer, foreign code has written. */
const MAX_REPORTED = {
  name: 500,
  message: 33_000,
  line: 2000,
  traceback: 66_000,
  repr: 132_000,
  json: 400_000,
};

const cut = (limit: number) => z.string().transform((text) => text.slice(0, limit));

/** Hints name it in Pungi's own sentences, so it is nothing but a name. */
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
  /** By a statement of Python, not by the interpreter or the system. */
  isRaised: boolean;
  errno: number | null;
}

export function readException(report: unknown, where: Whereabouts): ExceptionReport | undefined {
  const { data } = ReportedException.safeParse((report as { exception?: unknown } | undefined)?.exception);
  if (!data) return undefined;
  const { isMemoryError, isRaised, isProfileImport, errno, ...told } = data;
  const advised = hintFor({ ...told, isProfileImport }, where);
  const { type, message, traceback } = told;
  const refusal = { tier: where.tier ?? null, errno, said: `${type}: ${message}`, traceback };
  const hint = advised.hint ?? refusalHint(refusal);
  const exception = { ...told, missingPackage: advised.missingPackage, hint };
  return { exception, isMemoryError, isRaised, errno };
}

export function readValue(report: unknown, mostJson = MAX_REPORTED.json): Value | null {
  // Not by the schema of a value, which would look through all of its JSON, however deep.
  const { data } = ReportedValue.safeParse((report as { value?: unknown } | undefined)?.value);
  if (!data) return null;
  const { json, ...shown } = data;
  return json === undefined || !isSmallJson(json, mostJson)
    ? shown
    : { ...shown, json: json as Value['json'] };
}

/** Why there is no value though the last expression has one, if that is so. */
export function readValueNotes(report: unknown): string[] {
  const { data } = cut(MAX_REPORTED.name).safeParse(
    (report as { valueError?: unknown } | undefined)?.valueError,
  );
  return data === undefined
    ? []
    : [`The value of the last expression is not shown: its __repr__ raised ${data}.`];
}

const ReportedValue = z.object({
  type: cut(MAX_REPORTED.name),
  repr: cut(MAX_REPORTED.repr),
  json: z.unknown().optional(),
});

/** Everybody who is handed an outcome can write it down again. */
const isSmallJson = (json: unknown, most: number): boolean =>
  isShallowReport(json) && JSON.stringify(json).length <= most;

/** Whether every reader can take it: nothing of it is nested too deeply, and every number can be written down again. */
export function isShallowReport(json: unknown): boolean {
  const { depth, hasInfinity } = measureJson(json, MAX_VALUE_DEPTH);
  return depth <= MAX_VALUE_DEPTH && !hasInfinity;
}
