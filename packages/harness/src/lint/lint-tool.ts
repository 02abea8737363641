import { nameOf } from '../init/offer.js';
import { allowedBy } from '../inputs/example.js';
import { listIn, mapIn, nodeOf, typesOf } from '../inputs/schema-node.js';
import { isMap, type JsonMap } from '../judge/answer.js';
import { type JsonSchema, schemaProblem } from '../judge/schema.js';
import { shown } from '../judge/shown.js';

/**
 * `error`: violates the protocol or misleads; `warning`: models will perform worse; `advice`: a possible
 * improvement.
 */
export type Severity = 'error' | 'warning' | 'advice';

export const RULES = [
  'annotations',
  'array-items',
  'default',
  'description',
  'description-length',
  'hidden-text',
  'input-schema',
  'lists',
  'many-parameters',
  'mime-type',
  'name',
  'output-schema',
  'parameter-description',
  'parameter-type',
  'required',
  'server-info',
  'size',
  'spelling',
  'twice',
  'uri',
] as const;
type Rule = (typeof RULES)[number];

/** A remark about something that a server offers. */
export interface LintRemark {
  severity: Severity;
  /** The name of the rule, for --ignore. */
  rule: Rule;
  /** For example "tool add", "prompt greet", "server". */
  subject: string;
  message: string;
}

/** Reports a remark about one subject. */
export type Report = (severity: Severity, rule: Rule, message: string) => void;

const SHORTEST = 15;
const LONGEST = 4000;
/** Characters that are invisible to people but not to models: tags, zero-width joiners, direction marks. */
const HIDDEN = /[\u200B\u2060-\u2064\u202A-\u202E\u2066-\u2069\uFEFF\u{E0000}-\u{E007F}]/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const CONTROL = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/;

/** A model knows only the description. */
export function lintDescription(description: unknown, what: string, report: Report): void {
  if (typeof description !== 'string' || description.trim() === '') {
    report('warning', 'description', `${what} has no description: a model can only guess what it is for.`);
    return;
  }
  const { length } = description.trim();
  if (length < SHORTEST)
    report(
      'warning',
      'description-length',
      `The description of ${what} is too short to be useful: ${JSON.stringify(description)}.`,
    );
  if (length > LONGEST)
    report(
      'advice',
      'description-length',
      `The description of ${what} has ${length} characters, which cost tokens in every request to a model.`,
    );
  lintHidden(description, `The description of ${what}`, report);
}

export function lintHidden(text: string, what: string, report: Report): void {
  const found = HIDDEN.exec(text) ?? CONTROL.exec(text);
  if (found === null) return;
  const code = found[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
  report(
    'error',
    'hidden-text',
    `${what} contains characters that are invisible to people but read by models (U+${code}).`,
  );
}

const NAME = /^[A-Za-z0-9_./-]{1,128}$/;
/** Names that all common clients accept, which is less than the protocol allows. */
const COMMON_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CHANGES =
  /(^|[_.-])(delete|remove|drop|destroy|erase|purge|write|update|create|insert|send|set|move)([_.-]|$)/i;
const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

export function lintTool(tool: JsonMap, report: Report): void {
  const name = nameOf(tool);
  if (!NAME.test(name))
    report('error', 'name', 'Its name must be 1 to 128 letters, digits, "_", "-", "." or "/".');
  else if (!COMMON_NAME.test(name))
    report(
      'warning',
      'name',
      'Several clients refuse its name: they accept up to 64 letters, digits, "_" and "-".',
    );
  lintDescription(tool['description'], 'The tool', (severity, rule, message) =>
    report(severity, rule, message.replace('of The tool', 'of the tool')),
  );
  if (typeof tool['title'] === 'string') lintHidden(tool['title'], 'Its title', report);
  lintInputSchema(tool['inputSchema'], report);
  lintOutputSchema(tool['outputSchema'], report);
  lintAnnotations(name, tool['annotations'], report);
}

function lintAnnotations(name: string, annotations: unknown, report: Report): void {
  if (!isMap(annotations)) {
    report('advice', 'annotations', 'It has no annotations: clients must assume that it is destructive.');
    return;
  }
  for (const hint of HINTS)
    if (annotations[hint] !== undefined && typeof annotations[hint] !== 'boolean')
      report('error', 'annotations', `Its annotation ${hint} must be true or false.`);
  if (annotations['readOnlyHint'] === true && annotations['destructiveHint'] === true)
    report('error', 'annotations', 'It has both readOnlyHint and destructiveHint: one of them is wrong.');
  if (annotations['readOnlyHint'] === true && CHANGES.test(snakeCase(name)))
    report('warning', 'annotations', 'It has readOnlyHint, but its name suggests that it changes something.');
}

/** Converts deleteFile to delete_File. */
const snakeCase = (name: string) => name.replace(/([a-z\d])([A-Z])/g, '$1_$2');

const DEEPEST = 6;
const MANY_PARAMETERS = 15;
/** The limit per tool, at every level: parameters may be nested. */
const MAX_CHECKED = 1000;

/** Checks the input schema of a tool. */
function lintInputSchema(schema: unknown, report: Report): void {
  if (!isMap(schema)) {
    report('error', 'input-schema', 'It has no input schema; use {"type": "object"} for no input.');
    return;
  }
  const problem = schemaProblem(schema as JsonSchema);
  if (problem !== undefined) {
    report('error', 'input-schema', `Its input schema ${problem}.`);
    return;
  }
  if (schema['type'] !== 'object')
    report('error', 'input-schema', 'The type of its input schema must be "object".');
  const names = Object.keys(mapIn(nodeOf(schema, schema), 'properties'));
  if (names.length > MANY_PARAMETERS)
    report(
      'advice',
      'many-parameters',
      `It has ${names.length} parameters; models fill in fewer of them more reliably.`,
    );
  lintProperties(schema, { root: schema, left: MAX_CHECKED }, '', 0, report);
}

function lintOutputSchema(schema: unknown, report: Report): void {
  if (schema === undefined) return;
  if (!isMap(schema)) {
    report('error', 'output-schema', 'Its output schema is not an object.');
    return;
  }
  const problem = schemaProblem(schema as JsonSchema);
  if (problem !== undefined) {
    report('error', 'output-schema', `Its output schema ${problem}.`);
    return;
  }
  if (schema['type'] !== 'object')
    report(
      'warning',
      'output-schema',
      'The type of its output schema is not "object": older clients refuse it.',
    );
}

interface Walk {
  root: unknown;
  left: number;
}

function lintProperties(schema: unknown, walk: Walk, path: string, depth: number, report: Report): void {
  const node = nodeOf(schema, walk.root);
  if (depth > DEEPEST) return;
  const properties = mapIn(node, 'properties');
  for (const name of listIn(node, 'required').map(String))
    if (!Object.hasOwn(properties, name) && 'properties' in node)
      report('error', 'required', `"${path}${name}" is required, but its schema has no such property.`);
  for (const [name, property] of Object.entries(properties)) {
    walk.left -= 1;
    if (walk.left < 0) return;
    const one = nodeOf(property, walk.root);
    lintProperty(`${path}${name}`, one, isMap(property) ? { ...one, ...property } : one, depth, report);
    lintProperties(one, walk, `${path}${name}.`, depth + 1, report);
  }
}

const TYPE_KEYS = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref', 'properties', 'items'];

function lintProperty(path: string, node: JsonMap, written: JsonMap, depth: number, report: Report): void {
  const { description } = written;
  if (typeof description !== 'string' || description.trim() === '')
    report(
      depth === 0 ? 'warning' : 'advice',
      'parameter-description',
      `The parameter "${path}" has no description.`,
    );
  else lintHidden(description, `The description of the parameter "${path}"`, report);
  if (!TYPE_KEYS.some((key) => key in written))
    report('warning', 'parameter-type', `The parameter "${path}" has no type.`);
  if (typesOf(node).includes('array') && node['items'] === undefined && node['prefixItems'] === undefined)
    report(
      'warning',
      'array-items',
      `The array "${path}" has no items schema; some clients refuse the tool.`,
    );
  lintValues(path, node, report);
}

/** Checks that defaults and examples match the schema. */
function lintValues(path: string, node: JsonMap, report: Report): void {
  if (JSON.stringify(node).includes('"$ref"')) return;
  const given = [
    ...('default' in node ? [{ what: 'default', value: node['default'] }] : []),
    ...listIn(node, 'examples').map((value) => ({ what: 'example', value })),
  ];
  for (const { what, value } of given) {
    if (allowedBy(node)(value)) continue;
    report(
      'error',
      'default',
      `The ${what} of the parameter "${path}" does not match its schema: ${shown(value)}.`,
    );
  }
}
