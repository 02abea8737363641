import { PungiError } from '@pungi/core/base';
import type { InputFile, ObjectSchema } from '@pungi/core/contract';
import { readBelow } from '@pungi/core/gate';
import { descriptionOf, isRecord, type JsonSchema, targetOf } from '../schema/parameters.js';

/** What a caller may give for a path, beside a path. */
const CONTENT: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    text: { type: 'string' },
    base64: { type: 'string', contentEncoding: 'base64' },
  },
  required: ['name'],
  additionalProperties: false,
};
const ABOUT =
  'A file: its content as {"name", "text"} or {"name", "base64"}, or a path: of a file that comes with the tool, of a data folder (data/NAME/…), or below the roots of the server.';

/** The folder for files of the caller. No module can be imported from it, so none of them replaces code of the script. */
const FOLDER = 'input-files';
const MOST_FILES = 100;
const MOST_LOOKUPS = 1000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
const DEEPEST = 30;

const isPath = ({ type, format }: JsonSchema) =>
  format === 'path' && (type === 'string' || (Array.isArray(type) && type.includes('string')));

/** The schema as the server offers it: where it wants a path, a file may be given. */
export const withFiles = (schema: ObjectSchema): ObjectSchema =>
  mayHavePaths(schema) ? (offered(schema, 0) as ObjectSchema) : schema;

function offered(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > DEEPEST) return schema;
  if (isPath(schema)) return { ...words(schema), anyOf: [bare(schema), CONTENT] };
  const inside = Object.entries(schema).map(([keyword, value]) => {
    if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(keyword) && Array.isArray(value))
      return [keyword, value.flatMap((one) => alternatives(keyword, one, depth))];
    if (['properties', '$defs'].includes(keyword) && isRecord(value))
      return [keyword, mapValues(value, (one) => offered(one, depth + 1))];
    return [keyword, ['items', 'additionalProperties'].includes(keyword) ? offered(value, depth + 1) : value];
  });
  const whole = Object.fromEntries(inside) as JsonSchema;
  return hasPathAmong(schema) ? { ...whole, ...words(schema) } : whole;
}

/** A choice of its own is not nested into the choice that it is part of. */
const alternatives = (keyword: string, one: unknown, depth: number): unknown[] =>
  isRecord(one) && isPath(one) && ['anyOf', 'oneOf'].includes(keyword)
    ? [one, CONTENT]
    : [offered(one, depth + 1)];

const hasPathAmong = ({ anyOf, oneOf }: JsonSchema) =>
  [anyOf, oneOf].some(
    (options) => Array.isArray(options) && options.some((one) => isRecord(one) && isPath(one)),
  );

const words = (schema: JsonSchema) => {
  const { default: standard } = schema;
  const description = [descriptionOf(schema), ABOUT].filter(Boolean).join(' ');
  return { description, ...(standard !== undefined && { default: standard }) };
};

const bare = ({ description: _, default: __, ...rest }: JsonSchema) => rest;

const mapValues = (record: JsonSchema, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

const known = new WeakMap<object, boolean>();

function mayHavePaths(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const found = known.get(schema) ?? /"format":"path"|"\$ref"/.test(JSON.stringify(schema));
  known.set(schema, found);
  return found;
}

export interface PlacedArguments {
  args: Record<string, unknown>;
  /** For the work folder of the call; the arguments name them. */
  files: InputFile[];
}

/** Turns each file that an argument holds, or names below the roots, into a file of the work folder, and the argument into its path. */
export async function placeFiles(
  schema: ObjectSchema,
  args: Record<string, unknown>,
  roots: string[],
): Promise<PlacedArguments> {
  if (!mayHavePaths(schema)) return { args, files: [] };
  const placing = new Placing(schema, roots);
  const placed = (await placing.place(schema, args, [])) as Record<string, unknown>;
  return { args: placed, files: placing.files };
}

class Placing {
  readonly files: InputFile[] = [];
  #lookups = 0;
  #bytes = 0;

  constructor(
    private readonly root: JsonSchema,
    private readonly roots: string[],
  ) {}

  async place(schema: unknown, value: unknown, where: readonly (string | number)[]): Promise<unknown> {
    if (where.length > DEEPEST || !mayHavePaths(schema)) return value;
    const options = this.#optionsOf(schema, 0);
    if (options.some(isPath)) {
      if (typeof value === 'string') return this.#found(value);
      // An object may also be what another option asks for.
      if (isRecord(value) && !options.some(({ type }) => type === 'object'))
        return this.#given(value, where.join('.'));
    }
    if (Array.isArray(value)) return this.#placeEach(options, value, where);
    if (!isRecord(value)) return value;
    const entries: [name: string, value: unknown][] = [];
    for (const [name, one] of Object.entries(value)) {
      const inner = options.map((option) => memberOf(option, name)).find((found) => found !== undefined);
      entries.push([name, await this.place(inner, one, [...where, name])]);
    }
    return Object.fromEntries(entries);
  }

  async #placeEach(
    options: readonly JsonSchema[],
    values: readonly unknown[],
    where: readonly (string | number)[],
  ) {
    const list = options.find(({ items, prefixItems }) => items !== undefined || prefixItems !== undefined);
    if (list === undefined || !mayHavePaths(list)) return values;
    const first = Array.isArray(list['prefixItems']) ? list['prefixItems'] : [];
    const placed: unknown[] = [];
    for (const [index, value] of values.entries())
      placed.push(await this.place(first[index] ?? list['items'], value, [...where, index]));
    return placed;
  }

  /** The schemas that a value may fit, without the choices and references between. */
  #optionsOf(schema: unknown, depth: number): JsonSchema[] {
    if (!isRecord(schema) || depth > DEEPEST) return [];
    const { $ref, anyOf, oneOf, allOf } = schema;
    const target = typeof $ref === 'string' ? [targetOf(this.root, $ref)] : [];
    const inner = [anyOf, oneOf, allOf, target].filter((list) => Array.isArray(list)).flat();
    return [schema, ...inner.flatMap((one) => this.#optionsOf(one, depth + 1))];
  }

  /** A path that leads to no file below the roots is left to the script: it may name a file of the sandbox, or one to be written. */
  async #found(path: string): Promise<string> {
    if (this.roots.length === 0 || path.includes('\0')) return path;
    this.#lookups += 1;
    if (this.#lookups > MOST_LOOKUPS) return path;
    const bytes = await readBelow(path, this.roots, MAX_FILE_BYTES, isVisible);
    if (bytes === undefined) return path;
    this.#bytes += bytes.length;
    if (this.#bytes > MAX_FILE_BYTES)
      throw new PungiError(
        'INVALID_INPUT',
        `The files of a call are larger than ${MAX_FILE_BYTES} bytes together.`,
      );
    return this.#add(path.split('/').at(-1)!, { base64: bytes.toString('base64') });
  }

  #given({ name, text, base64, ...rest }: JsonSchema, where: string): string {
    const content = typeof text === 'string' ? { text } : typeof base64 === 'string' ? { base64 } : undefined;
    const isWhole = content !== undefined && (text === undefined || base64 === undefined);
    if (typeof name !== 'string' || !isWhole || Object.keys(rest).length > 0)
      throw invalid(where, 'expected a path, {"name": …, "text": …} or {"name": …, "base64": …}');
    if (!isFileName(name))
      throw invalid(
        where,
        `"name" must be the name of a file, without folders: ${JSON.stringify(name.slice(0, 200))}`,
      );
    return this.#add(name, content);
  }

  #add(name: string, content: Pick<InputFile, 'text' | 'base64'>): string {
    if (this.files.length >= MOST_FILES)
      throw new PungiError('INVALID_INPUT', `A call takes at most ${MOST_FILES} files.`);
    const path = `${FOLDER}/${this.files.length + 1}/${name}`;
    this.files.push({ path, ...content });
    return path;
  }
}

function memberOf({ properties, additionalProperties }: JsonSchema, name: string): unknown {
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name];
  return isRecord(additionalProperties) ? additionalProperties : undefined;
}

/** Files such as .env and .git/config lie beside scripts and are not meant to be handed out. */
const isVisible = (path: string) => path.split('/').every((part) => !part.startsWith('.'));

const isFileName = (name: string) =>
  !['', '.', '..'].includes(name) && Buffer.byteLength(name) <= 255 && !/[/\\\p{Cc}\p{Cf}\p{Cs}]/u.test(name);

const invalid = (where: string, problem: string) =>
  new PungiError('INVALID_INPUT', 'The arguments do not fit the tool.', { issues: [`${where}: ${problem}`] });
