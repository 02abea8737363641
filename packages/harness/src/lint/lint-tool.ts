import { nameOf } from '../init/offer.js';
import { allowedBy } from '../inputs/example.js';
import { listIn, mapIn, nodeOf, typesOf } from '../inputs/schema-node.js';
import { isMap, type JsonMap } from '../judge/answer.js';
import { type JsonSchema, schemaProblem } from '../judge/schema.js';
import { shown } from '../judge/shown.js';
import { lintDescription, lintHidden, type Tell } from './remark.js';

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
/** What several clients take, which is less than the protocol allows. */
const COMMON_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CHANGES =
  /(^|[_.-])(delete|remove|drop|destroy|erase|purge|write|update|create|insert|send|set|move)([_.-]|$)/i;
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

export function lintTool(tool: JsonMap, tell: Tell): void {
  const name = nameOf(tool);
  if (!NAME.test(name))
    tell('error', 'name', 'Its name must be 1 to 128 letters, digits, "_", "-", "." or "/".');
  else if (!COMMON_NAME.test(name))
    tell(
      'warning',
      'name',
      'Its name is one that several clients refuse: they take 64 letters, digits, "_" and "-".',
    );
  lintDescription(tool['description'], 'The tool', (severity, rule, message) =>
    tell(severity, rule, message.replace('of The tool', 'of the tool')),
  );
  if (typeof tool['title'] === 'string') lintHidden(tool['title'], 'Its title', tell);
  lintInputSchema(tool['inputSchema'], tell);
  lintOutputSchema(tool['outputSchema'], tell);
  lintAnnotations(name, tool['annotations'], tell);
}

function lintAnnotations(name: string, annotations: unknown, tell: Tell): void {
  if (!isMap(annotations)) {
    tell(
      'advice',
      'annotations',
      'It has no annotations: clients must take it for one that may destroy things.',
    );
    return;
  }
  for (const hint of HINTS)
    if (annotations[hint] !== undefined && typeof annotations[hint] !== 'boolean')
      tell('error', 'annotations', `Its annotation ${hint} must be true or false.`);
  if (annotations['readOnlyHint'] === true && annotations['destructiveHint'] === true)
    tell(
      'error',
      'annotations',
      'It says that it only reads, and that it destroys: one of the hints is wrong.',
    );
  if (annotations['readOnlyHint'] === true && CHANGES.test(words(name)))
    tell(
      'warning',
      'annotations',
      'It says that it only reads, and its name says that it changes something.',
    );
}

/** deleteFile is delete_file. */
const words = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1_$2');

const DEEPEST = 6;
const MANY_PARAMETERS = 15;
/** Of one tool, at every level: parameters may hold each other. */
const MOST_LOOKED_AT = 1000;

/** The schema of a tool's input. */
function lintInputSchema(schema: unknown, tell: Tell): void {
  if (!isMap(schema)) {
    tell('error', 'input-schema', 'It has no input schema; {"type": "object"} says that there is no input.');
    return;
  }
  const problem = schemaProblem(schema as JsonSchema);
  if (problem !== undefined) {
    tell('error', 'input-schema', `Its input schema ${problem}.`);
    return;
  }
  if (schema['type'] !== 'object')
    tell('error', 'input-schema', 'The type of its input schema must be "object".');
  const names = Object.keys(mapIn(nodeOf(schema, schema), 'properties'));
  if (names.length > MANY_PARAMETERS)
    tell(
      'advice',
      'many-parameters',
      `It has ${names.length} parameters; models fill in fewer of them more reliably.`,
    );
  lintProperties(schema, { root: schema, left: MOST_LOOKED_AT }, '', 0, tell);
}

function lintOutputSchema(schema: unknown, tell: Tell): void {
  if (schema === undefined) return;
  if (!isMap(schema)) {
    tell('error', 'output-schema', 'Its output schema is no object.');
    return;
  }
  const problem = schemaProblem(schema as JsonSchema);
  if (problem !== undefined) {
    tell('error', 'output-schema', `Its output schema ${problem}.`);
    return;
  }
  if (schema['type'] !== 'object')
    tell(
      'warning',
      'output-schema',
      'The type of its output schema is not "object", which older clients refuse.',
    );
}

interface Walk {
  root: unknown;
  left: number;
}

function lintProperties(schema: unknown, walk: Walk, path: string, depth: number, tell: Tell): void {
  const node = nodeOf(schema, walk.root);
  if (depth > DEEPEST) return;
  const properties = mapIn(node, 'properties');
  for (const name of listIn(node, 'required').map(String))
    if (!Object.hasOwn(properties, name) && 'properties' in node)
      tell('error', 'required', `"${path}${name}" is required, and its schema has no such property.`);
  for (const [name, property] of Object.entries(properties)) {
    walk.left -= 1;
    if (walk.left < 0) return;
    const one = nodeOf(property, walk.root);
    lintProperty(`${path}${name}`, one, isMap(property) ? { ...one, ...property } : one, depth, tell);
    lintProperties(one, walk, `${path}${name}.`, depth + 1, tell);
  }
}

const SAYS_TYPE = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'properties', 'items'];

function lintProperty(path: string, node: JsonMap, written: JsonMap, depth: number, tell: Tell): void {
  const { description } = written;
  if (typeof description !== 'string' || description.trim() === '')
    tell(
      depth === 0 ? 'warning' : 'advice',
      'parameter-description',
      `The parameter "${path}" has no description.`,
    );
  else lintHidden(description, `The description of the parameter "${path}"`, tell);
  if (!SAYS_TYPE.some((key) => key in written))
    tell('warning', 'parameter-type', `The parameter "${path}" may be anything: its schema names no type.`);
  if (typesOf(node).includes('array') && node['items'] === undefined && node['prefixItems'] === undefined)
    tell(
      'warning',
      'array-items',
      `The array "${path}" does not say what its items are; some clients refuse the tool.`,
    );
  lintValues(path, node, tell);
}

/** What a schema gives as a default or an example keeps to it. */
function lintValues(path: string, node: JsonMap, tell: Tell): void {
  if (JSON.stringify(node).includes('"$ref"')) return;
  const given = [
    ...('default' in node ? [{ what: 'default', value: node['default'] }] : []),
    ...listIn(node, 'examples').map((value) => ({ what: 'example', value })),
  ];
  for (const { what, value } of given) {
    if (allowedBy(node)(value)) continue;
    tell(
      'error',
      'default',
      `The ${what} of the parameter "${path}" is none of the values that it allows: ${shown(value)}.`,
    );
  }
}
