import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ArgvRule, Discovery, FunctionTool, Remark, ScriptTool } from '../../core/src/contract/wrap.js';

/** Scripts of the kinds that people have; those that are too long to be kept are made from a recipe. */
const folder = fileURLToPath(new URL('../../../tests/fixtures/scripts/', import.meta.url));
const readJson = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'));

/** More than this are only counted. */
const MOST_LISTED = 50;

export interface Expectation {
  /** Where it is not UTF-8. */
  encoding?: string;
  /** The first Python that can read it. */
  since?: [number, number];
  /** The packages that it needs to be loaded. */
  needs?: string[];
  /** Packages without which it cannot be loaded, as it is here. */
  absent?: string[];
  exception?: { type: string; line?: number };
  [fact: string]: unknown;
}

interface Recipe {
  head: string;
  text: string;
  times: number;
  tail: string;
}

const recipes = readJson('made.json') as Record<string, Recipe>;

export const scriptNames = [
  ...readdirSync(folder).filter((name) => name.endsWith('.py')),
  ...Object.keys(recipes),
].sort();

export const expectationOf = (name: string) => readJson(`expected/${name}.json`) as Expectation;

export function sourceOf(name: string, encoding = 'utf-8'): string {
  const recipe = recipes[name];
  if (recipe) {
    const parts = Array.from({ length: recipe.times }, (_, n) => recipe.text.replaceAll('{n}', `${n}`));
    return recipe.head + parts.join('') + recipe.tail;
  }
  return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(readFileSync(join(folder, name)));
}

/** The short form of packages/core/tests/python/script_corpus.py: what is empty or false is left out. */
export function shorten(found: Discovery): Record<string, unknown> {
  const functions = Object.fromEntries(found.functions.map((tool) => [titleOf(tool), namesOf(tool)]));
  return withoutEmpty({
    description: firstLine(found.description),
    ...(found.functions.length <= MOST_LISTED ? { functions } : { functionCount: found.functions.length }),
    scripts: Object.fromEntries(found.scripts.map((tool) => [tool.name, shortenScript(tool)])),
    remarks: found.remarks.map(shortenRemark),
    // Without the advice, which depends on where it is given.
    problem: found.problem?.replace(/(?<=\.) The module .*/s, ''),
    dependencies: found.dependencies,
    requiresPython: found.requiresPython,
    imports: found.imports,
    hasMainGuard: found.hasMainGuard,
    hasSideEffects: found.hasSideEffects,
  });
}

const firstLine = (text: string) => text.split('\n', 1)[0];
const titleOf = (tool: FunctionTool) => (tool.isAsync ? `async ${tool.function}` : tool.function);
const propertiesOf = ({ inputSchema }: FunctionTool | ScriptTool) =>
  (inputSchema.properties ?? {}) as Record<string, Property>;
const namesOf = (tool: FunctionTool | ScriptTool) => Object.keys(propertiesOf(tool)).map(marked(tool));

const marked =
  ({ inputSchema }: FunctionTool | ScriptTool) =>
  (name: string) =>
    ((inputSchema.required ?? []) as string[]).includes(name) ? name : `${name}?`;

function withoutEmpty(facts: Record<string, unknown>): Record<string, unknown> {
  const isSomething = (fact: unknown) =>
    fact !== null && typeof fact === 'object' ? Object.keys(fact).length > 0 : Boolean(fact);
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => isSomething(fact)));
}

const shortenScript = (tool: ScriptTool) =>
  withoutEmpty({
    command: tool.command.join(' '),
    description: firstLine(tool.description),
    parameters: Object.fromEntries(
      tool.argv.map((rule) => [
        marked(tool)(rule.parameter),
        shortenRule(rule, propertiesOf(tool)[rule.parameter]!),
      ]),
    ),
    parser: tool.parser,
    stdin: tool.stdin,
    entry: tool.entry,
  });

interface Property {
  type?: string;
  format?: string;
  contentMediaType?: string;
  enum?: unknown[];
  items?: Property;
  prefixItems?: Property[];
  default?: unknown;
  [limit: string]: unknown;
}

const shortenRule = ({ flag, takes, whenFalse, before }: ArgvRule, about: Property) =>
  [
    flag ?? 'word',
    takes,
    typeOf(about),
    ...('default' in about ? [`= ${JSON.stringify(about.default)}`] : []),
    ...(whenFalse === undefined ? [] : [`or ${whenFalse}`]),
    ...(before === undefined ? [] : [`before word ${before}`]),
  ].join(' ');

function typeOf(about: Property): string {
  if (about.enum) return about.enum.join('|');
  if (about.type === 'array') {
    const inner = about.prefixItems?.map(typeOf).join(',') ?? typeOf(about.items ?? {});
    return `[${inner}]${limitsOf(about, 'minItems', 'maxItems')}`;
  }
  const form = about.format ?? about.contentMediaType;
  return `${about.type ?? 'any'}${form ? `:${form}` : ''}${limitsOf(about, 'minimum', 'maximum')}`;
}

const limitsOf = (about: Property, low: string, high: string) =>
  low in about || high in about ? `{${about[low] ?? ''}..${about[high] ?? ''}}` : '';

const shortenRemark = ({ line, name, reason, isSkipped }: Remark) =>
  `${line} ${name}${isSkipped ? ' (skipped)' : ''}: ${reason}`;
