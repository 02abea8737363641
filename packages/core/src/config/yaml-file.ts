import { createRequire } from 'node:module';
import type { Document, Node } from 'yaml';
import { PungiError } from '../base/errors.js';
import { readBounded } from '../base/files.js';

const load = createRequire(import.meta.url);
/** Loaded when there is a file: every start would wait for it. */
const yaml = () => load('yaml') as typeof import('yaml');

const MAX_BYTES = 1024 * 1024;
/** The parser is recursive, and too many levels would end the process. */
const MAX_LEVELS = 32;
/** A file that is not YAML has a problem for every token. */
const MAX_PROBLEMS = 10;

/** A position in a text; line and column count from 1. */
export interface Position {
  line: number;
  column: number;
}

export type YamlPath = readonly (string | number)[];

interface YamlProblem {
  position: Position | null;
  problem: string;
}

/** A parsed YAML text: plain values, their positions, and the syntax problems. */
export interface YamlText {
  /** Undefined if there are problems. */
  data: unknown;
  problems: YamlProblem[];
  /**
   * Returns the position of a value, or of its key if the value begins below it; with `atKey`, always of the key. For
   * a missing value, returns the position of the innermost existing part of the path.
   */
  positionOf(path: YamlPath, options?: { atKey?: boolean }): Position | null;
  /** Returns the node of a value, which knows how the value is written. */
  nodeAt(path: YamlPath): unknown;
  positionAt(offset: number): Position;
}

interface YamlOptions {
  maxLevels?: number;
  /** Aliases (*name) and merge keys (<<) are allowed. */
  allowAliases?: boolean;
}

/** `what` names the file in error messages, such as "The profiles file a.yaml". */
export function readYamlFile(path: string, what: string): YamlText {
  const read = readBounded(path, MAX_BYTES);
  if ('problem' in read)
    throw new PungiError('CONFIGURATION_ERROR', `${what} cannot be read: ${read.problem}.`);
  return parseYaml(read.bytes.toString());
}

export function parseYaml(
  text: string,
  { maxLevels = MAX_LEVELS, allowAliases = false }: YamlOptions = {},
): YamlText {
  if (isTooDeep(text, maxLevels)) return unusable(`it is nested more than ${maxLevels} levels deep`);
  const lines = new (yaml().LineCounter)();
  const document = yaml().parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    merge: allowAliases,
    // `repeatedKeys` checks this instead: the library compares each key with all previous ones.
    uniqueKeys: false,
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const found = [...document.errors, ...document.warnings, ...repeatedKeys(document)];
  const problems = found.map(({ message, pos }) => ({
    position: positionAt(pos[0]),
    problem: `it is not valid YAML: ${message.split('\n', 1)[0]}`,
  }));
  for (const offset of allowAliases ? [] : aliasesIn(document)) {
    const problem = 'aliases (*name) are not allowed: write the value itself';
    problems.push({ position: positionAt(offset), problem });
  }
  let data: unknown;
  try {
    data = problems.length > 0 ? undefined : document.toJS();
  } catch (error) {
    // An alias is undefined, or expands without end.
    return unusable(`it is not valid YAML: ${(error as Error).message}`);
  }
  return {
    data,
    problems: problems.slice(0, MAX_PROBLEMS),
    positionOf: (path, { atKey = false } = {}) => {
      const offset = offsetOf(document, path, atKey);
      return offset === undefined ? null : positionAt(offset);
    },
    nodeAt: (path) => nodeAt(document, path),
    positionAt,
  };
}

const unusable = (problem: string): YamlText => ({
  data: undefined,
  problems: [{ position: null, problem }],
  positionOf: () => null,
  nodeAt: () => undefined,
  positionAt: () => ({ line: 1, column: 1 }),
});

function isTooDeep(text: string, levels: number): boolean {
  const { Lexer, Parser } = yaml();
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme)); // the tree itself is built later
    if (parser.stack.length > levels) return true;
  }
  return false;
}

function repeatedKeys(document: Document): { message: string; pos: [number] }[] {
  const repeated: { message: string; pos: [number] }[] = [];
  yaml().visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!yaml().isScalar(key) || key.value === '<<') continue;
        if (seen.has(key.value))
          repeated.push({ message: 'Map keys must be unique', pos: [key.range?.[0] ?? 0] });
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

function aliasesIn(document: Document): number[] {
  const offsets: number[] = [];
  yaml().visit(document, {
    Alias: (_, node) => {
      offsets.push(node.range?.[0] ?? 0);
    },
  });
  return offsets;
}

function nodeAt(document: Document, path: YamlPath): unknown {
  const node = path.reduce<unknown>((here, step) => below(document, here, step)?.value, document.contents);
  return yaml().isAlias(node) ? node.resolve(document) : node;
}

function offsetOf(document: Document, path: YamlPath, atKey: boolean): number | undefined {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [index, step] of path.entries()) {
    const next = below(document, node, step);
    if (next === undefined) return offset;
    node = next.value;
    const isLast = index === path.length - 1;
    // A map or list may begin some lines below its key.
    const takesKey = next.key !== undefined && (!yaml().isScalar(node) || (isLast && atKey));
    offset = (takesKey ? startOf(next.key) : undefined) ?? startOf(node) ?? startOf(next.key) ?? offset;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined => (yaml().isNode(node) ? node.range?.[0] : undefined);

function below(
  document: Document,
  parent: unknown,
  step: string | number,
): { key?: Node | undefined; value: unknown } | undefined {
  const node = yaml().isAlias(parent) ? parent.resolve(document) : parent;
  if (yaml().isSeq(node) && typeof step === 'number' && step < node.items.length)
    return { value: node.items[step] };
  if (!yaml().isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => yaml().isScalar(key) && String(key.value) === String(step));
  return pair === undefined
    ? undefined
    : { key: yaml().isNode(pair.key) ? pair.key : undefined, value: pair.value };
}
