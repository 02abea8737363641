import { isMap, type JsonMap } from '../judge/answer.js';
import { compileSchema, type JsonSchema } from '../judge/schema.js';
import { FORMATS } from './formats.js';
import { generate } from './generate.js';
import { Random } from './random.js';
import {
  boundsOf,
  listIn,
  mapIn,
  namedValues,
  nodeOf,
  numberIn,
  optionsOf,
  typesOf,
  withOption,
} from './schema-node.js';

const DEEPEST = 8;
const TRIES = 200;

/** An input that the schema allows, as small and as plain as can be; undefined where none was found. */
export function exampleInput(schema: unknown): JsonMap | undefined {
  const allows = allowedBy(schema);
  const plain = exampleOf(schema, schema, 0);
  if (isMap(plain) && allows(plain)) return plain;
  const random = new Random(1);
  for (let count = 0; count < TRIES; count += 1) {
    const input = generate(schema, random);
    if (isMap(input) && allows(input)) return input;
  }
  return undefined;
}

/** Whether a value keeps to a schema; to one that is none, all do. */
export function allowedBy(schema: unknown): (value: unknown) => boolean {
  if (!isMap(schema) && typeof schema !== 'boolean') return () => true;
  try {
    const validate = compileSchema(schema as JsonSchema, false);
    return (value) => validate(value) === true;
  } catch {
    return () => true;
  }
}

function exampleOf(schema: unknown, root: unknown, depth: number): unknown {
  const node = nodeOf(schema, root);
  const [named] = namedValues(node);
  if (named !== undefined) return named;
  const [given] = [...listIn(node, 'examples'), ...('default' in node ? [node['default']] : [])];
  if (given !== undefined) return given;
  const options = optionsOf(node);
  const option = options.find((one) => !typesOf(nodeOf(one, root)).includes('null')) ?? options[0];
  if (option !== undefined) return exampleOf(withOption(node, option, root), root, depth + 1);
  const types = typesOf(node);
  const type = types.find((one) => one !== 'null') ?? 'null';
  if (type === 'object') return exampleObject(node, root, depth);
  if (type === 'array') return exampleArray(node, root, depth);
  if (type === 'boolean') return false;
  if (type === 'null') return null;
  return type === 'string' ? exampleText(node) : exampleNumber(node, type === 'integer');
}

/** Only what is required. */
function exampleObject(node: JsonMap, root: unknown, depth: number): JsonMap {
  if (depth > DEEPEST) return {};
  const properties = mapIn(node, 'properties');
  const names = listIn(node, 'required').map(String);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, root, depth + 1)]));
}

function exampleArray(node: JsonMap, root: unknown, depth: number): unknown[] {
  if (depth > DEEPEST) return [];
  const first = listIn(node, 'prefixItems').map((item) => exampleOf(item, root, depth + 1));
  const least = numberIn(node, 'minItems') ?? 1;
  const wanted = Math.min(least, numberIn(node, 'maxItems') ?? least);
  const more = Math.max(0, wanted - first.length);
  return [...first, ...Array.from({ length: more }, () => exampleOf(node['items'] ?? {}, root, depth + 1))];
}

function exampleText(node: JsonMap): string {
  const { format } = node;
  const text = (typeof format === 'string' ? FORMATS[format] : undefined) ?? 'text';
  const longest = numberIn(node, 'maxLength') ?? Number.POSITIVE_INFINITY;
  return text.padEnd(numberIn(node, 'minLength') ?? 0, 'text').slice(0, longest);
}

function exampleNumber(node: JsonMap, isWhole: boolean): number {
  const { least, most, step } = boundsOf(node, isWhole);
  const plain = Math.max(least ?? 1, step ?? 1);
  const value = most === undefined ? plain : Math.min(plain, most);
  return step === undefined ? value : Math.ceil(value / step) * step;
}
