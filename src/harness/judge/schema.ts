import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Failure } from '../../contract/test-report.js';
import { failure } from './failure.js';
import { measure } from './measure.js';
import { type Path, pathText } from './select.js';
import { cut, shown, typeOf } from './shown.js';

export type JsonSchema = boolean | Record<string, unknown>;

/** Where it is from: "schema", or the file. */
export interface NamedSchema {
  from: string;
  schema: JsonSchema;
}

const MAX_ERRORS = 20;
/** A larger document is judged up to its first error: each error is kept, and there may be one for each node. */
const MAX_NODES_FOR_ALL = 20_000;

/** Formats are annotations in JSON Schema 2020-12, and are not asserted. */
const OPTIONS = { strict: false, validateFormats: false, logger: false, addUsedSchema: false } as const;
const made: Partial<Record<string, Ajv>> = {};

const compiled = new WeakMap<object, Map<boolean, ValidateFunction>>();

/** The one of the dialect that the schema names; 2020-12 where it names none, as in MCP. */
function ajvFor(schema: JsonSchema, allErrors: boolean): Ajv {
  const dialect =
    typeof schema === 'object' && typeof schema['$schema'] === 'string' ? schema['$schema'] : '';
  const isOld = /draft-0[3-7]/.test(dialect);
  const key = `${isOld} ${allErrors}`;
  made[key] ??= isOld ? new Ajv({ ...OPTIONS, allErrors }) : new Ajv2020({ ...OPTIONS, allErrors });
  return made[key];
}

/** Throws where the schema is none, with a sentence of what is wrong with it. */
export function compileSchema(schema: JsonSchema, allErrors = true): ValidateFunction {
  if (typeof schema === 'boolean') return ajvFor(schema, allErrors).compile(schema);
  const known = compiled.get(schema)?.get(allErrors);
  if (known !== undefined) return known;
  // Its $schema only chooses the dialect.
  const { $schema: _, ...rest } = schema;
  const validate = ajvFor(schema, allErrors).compile(rest);
  compiled.set(schema, (compiled.get(schema) ?? new Map()).set(allErrors, validate));
  return validate;
}

/** Why a schema cannot be used; undefined where it can. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  try {
    compileSchema(schema);
    return undefined;
  } catch (error) {
    return `is not a JSON Schema: ${cut((error as Error).message.replace(/^schema is invalid: /, ''), 200)}`;
  }
}

/** The first of the documents that the schema allows will do; else what is wrong with the likeliest. */
export function judgeSchema({ from, schema }: NamedSchema, documents: readonly unknown[]): Failure[] {
  const where = from === 'schema' ? 'the schema' : from;
  const invalid = schemaProblem(schema);
  if (invalid !== undefined) return [failure(`${capital(where)} ${invalid}.`, { kind: 'schema' })];
  if (documents.some((document) => compileSchema(schema, false)(document))) return [];
  const document = likeliest(schema, documents);
  const validate = compileSchema(schema, measure(document).nodes <= MAX_NODES_FOR_ALL);
  validate(document);
  const errors = validate.errors ?? [];
  const found = errors.slice(0, MAX_ERRORS).map((error) => failureOf(error, document, where));
  const more = errors.length - found.length;
  if (more > 0) found.push(failure(`${more} more places are not as ${where} says.`, { kind: 'schema' }));
  return found;
}

const capital = (text: string) => (text === 'the schema' ? 'The schema' : text);

/** The one of the type that the schema asks for. */
function likeliest(schema: JsonSchema, documents: readonly unknown[]): unknown {
  const types = typeof schema === 'object' ? [schema['type']].flat() : [];
  return documents.find((document) => types.includes(typeOf(document))) ?? documents[0];
}

function failureOf(error: ErrorObject, document: unknown, where: string): Failure {
  const { path, value } = resolve(error.instancePath, document);
  const text = pathText(path);
  const actual = error.keyword === 'required' ? '' : `: ${shown(value)}`;
  const message = `${text} is not as ${where} says: it ${wording(error)}${actual}.`;
  return failure(message, { kind: 'schema', path: text, expected: error.params, actual: value });
}

function wording({ keyword, params, message = keyword }: ErrorObject): string {
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const name = params['additionalProperty'] ?? params['unevaluatedProperty'];
    return `must not have the property ${shown(name)}`;
  }
  if (keyword === 'enum') return `must be one of ${shown(params['allowedValues'])}`;
  if (keyword === 'const') return `must be ${shown(params['allowedValue'])}`;
  if (keyword === 'false schema') return 'must not be there';
  return cut(message, 300);
}

/** A JSON pointer leads from key to key; only the document knows which are numbers. */
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
