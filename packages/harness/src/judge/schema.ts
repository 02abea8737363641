import { measureJson } from '@pungi/core/base';
import type { Failure } from '@pungi/core/contract';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { MAX_DEPTH, withinTime } from './answer.js';
import { failure } from './failure.js';
import { type Path, pathText } from './select.js';
import { cut, shown, typeOf } from './shown.js';

export type JsonSchema = boolean | Record<string, unknown>;

/** `from`: "schema", or the file. */
export interface NamedSchema {
  from: string;
  schema: JsonSchema;
}

const MAX_ERRORS = 20;
/** A larger document is judged up to its first error: there may be one error per node. */
const MAX_NODES_FOR_ALL = 20_000;

/** Formats are annotations in JSON Schema 2020-12 and are not asserted. */
const OPTIONS = { strict: false, validateFormats: false, logger: false, addUsedSchema: false } as const;
const made: Partial<Record<string, Ajv>> = {};

const compiled = new WeakMap<object, Map<boolean, ValidateFunction | Error>>();

/** Servers advertise schemas, and a few megabytes take minutes to compile. */
const MAX_COMPILE_MS = 3000;
/** A base for "#" in a schema without an id. No schema is ever added, so all can share it. */
const BASE = 'schema:whole';
const TOO_DEEP = 'it is nested too deeply, or its references form a cycle';
/** Detects a stack overflow. */
const isTooDeep = (error: unknown): boolean => error instanceof RangeError;

/** The validator for the dialect that the schema names; 2020-12 by default, as in MCP. */
function ajvFor(schema: JsonSchema, allErrors: boolean): { ajv: Ajv; drop: () => void } {
  const dialect =
    typeof schema === 'object' && typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  const isOld = /draft-0[3-7]/.test(dialect);
  const key = `${isOld} ${allErrors}`;
  made[key] ??= isOld ? new Ajv({ ...OPTIONS, allErrors }) : new Ajv2020({ ...OPTIONS, allErrors });
  const drop = () => {
    delete made[key];
  };
  return { ajv: made[key], drop };
}

/** Throws if the schema is invalid, with the reason. */
export function compileSchema(
  schema: JsonSchema,
  allErrors = true,
  maxMs = MAX_COMPILE_MS,
): ValidateFunction {
  if (typeof schema === 'boolean') return ajvFor(schema, allErrors).ajv.compile(schema);
  const known = compiled.get(schema)?.get(allErrors) ?? compileNew(schema, allErrors, maxMs);
  compiled.set(schema, (compiled.get(schema) ?? new Map()).set(allErrors, known));
  if (known instanceof Error) throw known;
  return known;
}

function compileNew(
  schema: Record<string, unknown>,
  allErrors: boolean,
  maxMs: number,
): ValidateFunction | Error {
  const { ajv, drop } = ajvFor(schema, allErrors);
  // $schema only selects the dialect.
  const { $schema: _, ...rest } = schema;
  const whole = '$id' in rest ? rest : { $id: BASE, ...rest };
  let made: ValidateFunction | Error = new Error(`it is too large to be compiled in ${maxMs / 1000} seconds`);
  const isInTime = withinTime(maxMs, () => {
    try {
      made = ajv.compile(whole);
    } catch (error) {
      made = isTooDeep(error) ? new Error(TOO_DEEP) : (error as Error);
    }
  });
  // An interrupted validator is unusable; others must not keep the schema.
  if (isInTime) ajv.removeSchema(whole);
  else drop();
  return made;
}

/** Returns why a schema is invalid; undefined if it is valid. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (error) {
    return `is not a JSON Schema: ${cut((error as Error).message.replace(/^schema is invalid: /, ''), 200)}`;
  }
}

const MAX_MS = 3000;
const DEAR = /"(?:pattern|patternProperties|propertyNames|\$ref|\$dynamicRef|\$recursiveRef|uniqueItems)":/;
const dear = new WeakMap<object, boolean>();

/** Whether validation can take much longer than reading the document. */
export function isDear(schema: JsonSchema): boolean {
  if (typeof schema === 'boolean') return false;
  const known = dear.get(schema) ?? DEAR.test(JSON.stringify(schema));
  dear.set(schema, known);
  return known;
}

/** Like `judgeSchema`, for a schema and a document from a server: bounded in time, never throws. */
export function judgeForeignSchema(named: NamedSchema, document: unknown, maxMs = MAX_MS): Failure[] {
  let found: Failure[] = [];
  const report = (what: string) => {
    found = [failure(`The answer could not be judged by ${named.from}${what}`, { kind: 'schema' })];
  };
  const work = () => {
    try {
      found = judgeSchema(named, [document]);
    } catch (error) {
      report(`: ${isTooDeep(error) ? TOO_DEEP : (error as Error).message}.`);
    }
  };
  const invalid = schemaProblem(named.schema);
  if (invalid !== undefined || !isDear(named.schema)) work();
  else if (!withinTime(maxMs, work))
    report(` within ${maxMs / 1000} seconds: a pattern or a cycle of references is too expensive.`);
  return found;
}

/** Passes if the schema allows any of the documents; else reports the errors of the likeliest. */
export function judgeSchema({ from, schema }: NamedSchema, documents: readonly unknown[]): Failure[] {
  const where = from === 'schema' ? 'the schema' : from;
  const invalid = schemaProblem(schema);
  if (invalid !== undefined) return [failure(`${capital(where)} ${invalid}.`, { kind: 'schema' })];
  if (documents.some((document) => compileSchema(schema, false)(document))) return [];
  const document = likeliest(schema, documents);
  const validate = compileSchema(schema, measureJson(document, MAX_DEPTH).nodes <= MAX_NODES_FOR_ALL);
  validate(document);
  const errors = validate.errors ?? [];
  const found = errors.slice(0, MAX_ERRORS).map((error) => failureOf(error, document, where));
  const more = errors.length - found.length;
  if (more > 0) found.push(failure(`${more} more values violate ${where}.`, { kind: 'schema' }));
  return found;
}

const capital = (text: string) => text.replace(/^the /, 'The ');

/** The document whose type matches the schema. */
function likeliest(schema: JsonSchema, documents: readonly unknown[]): unknown {
  const types = typeof schema === 'object' ? [schema['type']].flat() : [];
  return documents.find((document) => types.includes(typeOf(document))) ?? documents[0];
}

function failureOf(error: ErrorObject, document: unknown, where: string): Failure {
  const { path, value } = resolve(error.instancePath, document);
  const text = pathText(path);
  const actual = error.keyword === 'required' ? '' : `: ${shown(value)}`;
  const message = `${text} violates ${where}: it ${errorText(error)}${actual}.`;
  return failure(message, { kind: 'schema', path: text, expected: error.params, actual: value });
}

function errorText({ keyword, params, message = keyword }: ErrorObject): string {
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
    return `must not have the property ${shown(name)}`;
  }
  if (keyword === 'enum') return `must be one of ${shown(params['allowedValues'])}`;
  if (keyword === 'const') return `must be ${shown(params['allowedValue'])}`;
  if (keyword === 'false schema') return 'is not allowed';
  return cut(message, 300);
}

/** Resolves a JSON pointer; only the document shows which keys are numbers. */
function resolve(pointer: string, document: unknown): { path: Path; value: unknown } {
  const path: (string | number)[] = [];
  let value = document;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(value) ? Number(key) : key);
    value = (value as Record<string, unknown>)[key];
  }
  return { path, value };
}
