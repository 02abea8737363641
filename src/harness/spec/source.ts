import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
} from 'yaml';
import { fileProblem } from '../../base/files.js';
import { isTooDeep } from '../../config/yaml-file.js';
import { type Position, type SpecFault, type SpecPath, specPathText } from './fault.js';

const MAX_BYTES = 4 * 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** Specifications hold JSON Schemas, which are deeper than settings. */
const MOST_SYNTAX_FAULTS = 10;
const MAX_LEVELS = 128;

/** A file of YAML or JSON, and where everything in it stands. */
export interface Source {
  file: string;
  data: unknown;
  /** A fault at a path; at its key, where the value is not what is wrong. */
  fault(
    path: SpecPath,
    message: string,
    more?: { suggestion?: string | undefined; atKey?: boolean },
  ): SpecFault;
  /** Where a place inside of a text stands in the file; where the text begins, if its lines are not those of the file. */
  placeInText(path: SpecPath, place: Position): Position | null;
}

/** A reason instead of a text, where the file cannot be read. */
export function readBounded(file: string, most = MAX_BYTES): { text: string } | { problem: string } {
  try {
    // Looked at first: a pipe or a device may never end.
    const stat = statSync(file);
    if (!stat.isFile() && !stat.isDirectory()) return { problem: 'it is no regular file' };
    const text = stat.size > most ? undefined : readText(file, most);
    return text === undefined ? { problem: `it is larger than ${most} bytes` } : { text };
  } catch (error) {
    return { problem: fileProblem(error) };
  }
}

/** What the system makes up, as below /proc, says that it has no size; some of it never ends, or never begins. */
function readText(file: string, most: number): string | undefined {
  const opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const parts: Buffer[] = [];
    for (let bytes = 0; bytes <= most; ) {
      const part = Buffer.allocUnsafe(BLOCK_BYTES);
      const read = readSync(opened, part);
      if (read === 0) return Buffer.concat(parts).toString('utf8');
      parts.push(part.subarray(0, read));
      bytes += read;
    }
    return undefined;
  } finally {
    closeSync(opened);
  }
}

/** What a file holds, or what is wrong with it as YAML. */
export function parseSource(file: string, text: string): Source | SpecFault[] {
  const wrong = (position: Position | null, message: string): SpecFault => ({
    file,
    position,
    path: '',
    message,
  });
  if (isTooDeep(text, MAX_LEVELS)) return [wrong(null, `it is nested more than ${MAX_LEVELS} levels deep`)];
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    merge: true,
    // By ourselves, below: the library compares each key with all before it.
    uniqueKeys: false,
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  // The first ones: a file that is something else altogether has one for every token.
  const found = [...document.errors, ...document.warnings, ...repeatedKeys(document)].slice(
    0,
    MOST_SYNTAX_FAULTS,
  );
  const problems = found.map(({ message, pos }) =>
    wrong(positionAt(pos[0]), `it is not valid YAML: ${message.split('\n', 1)[0]}`),
  );
  if (problems.length > 0) return problems;
  let data: unknown;
  try {
    data = document.toJS();
  } catch (error) {
    // Aliases that lead nowhere, or that grow without end.
    return [wrong(null, `it is not valid YAML: ${(error as Error).message}`)];
  }
  const fault: Source['fault'] = (path, message, { suggestion, atKey = false } = {}) => {
    const offset = offsetOf(document, path, atKey);
    return {
      file,
      position: offset === undefined ? null : positionAt(offset),
      path: specPathText(path),
      message,
      ...(suggestion === undefined ? {} : { suggestion }),
    };
  };
  const placeInText: Source['placeInText'] = (path, place) => {
    const node = nodeAt(document, path);
    const offset = start(node);
    if (offset === undefined) return null;
    const inLine = isScalar(node) && place.line === 1 ? offsetInLine(node, text) : undefined;
    if (inLine !== undefined) return positionAt(inLine + place.column - 1);
    const begin = positionAt(offset);
    return (isScalar(node) && placeInBlock(node, text.split(/\r?\n/), begin, place)) || begin;
  };
  return { file, data, fault, placeInText };
}

/** Where the text of a scalar begins that is written in one line, as it is. */
function offsetInLine(node: Scalar, text: string): number | undefined {
  const [from, to] = node.range!;
  const isQuoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  const written = isQuoted ? text.slice(from + 1, to - 1) : text.slice(from, to);
  if (node.type?.startsWith('BLOCK') || written !== node.value) return undefined;
  return isQuoted ? from + 1 : from;
}

/** A block that begins with | has a line of the file for each of its own, all of them indented alike. */
function placeInBlock(
  { type, value }: Scalar,
  lines: readonly string[],
  begin: Position,
  place: Position,
): Position | undefined {
  if (type !== 'BLOCK_LITERAL' || typeof value !== 'string') return undefined;
  const own = value.split('\n');
  const full = own.findIndex((line) => line.trim() !== '');
  // `begin` is the line of the bar, from 1: the first line of the text is the next one.
  const indent = (lines[begin.line + full] ?? '').trimEnd().length - (own[full] ?? '').trimEnd().length;
  return { line: begin.line + place.line, column: Math.max(0, indent) + place.column };
}

function nodeAt(document: Document, path: SpecPath): unknown {
  const node = path.reduce<unknown>((here, step) => below(document, here, step)?.value, document.contents);
  return isAlias(node) ? node.resolve(document) : node;
}

function repeatedKeys(document: Document): { message: string; pos: [number] }[] {
  const repeated: { message: string; pos: [number] }[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key) || key.value === '<<') continue;
        if (seen.has(key.value))
          repeated.push({ message: 'Map keys must be unique', pos: [key.range?.[0] ?? 0] });
        seen.add(key.value);
      }
    },
  });
  return repeated;
}

/** Where a path leads; of what is not there (it is missing, or comes from a variable), where it would be. */
function offsetOf(document: Document, path: SpecPath, atKey: boolean): number | undefined {
  let node: unknown = document.contents;
  let offset = start(node);
  for (const [index, step] of path.entries()) {
    const next = below(document, node, step);
    if (next === undefined) return offset;
    node = next.value;
    const isLast = index === path.length - 1;
    // A map or a list as a value may begin lines below its key.
    const takesKey = next.key !== undefined && (!isScalar(node) || (isLast && atKey));
    offset = (takesKey ? start(next.key) : undefined) ?? start(node) ?? start(next.key) ?? offset;
  }
  return offset;
}

const start = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

function below(
  document: Document,
  parent: unknown,
  step: string | number,
): { key?: Node | undefined; value: unknown } | undefined {
  const node = isAlias(parent) ? parent.resolve(document) : parent;
  if (isSeq(node) && typeof step === 'number' && step < node.items.length) return { value: node.items[step] };
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair === undefined ? undefined : { key: isNode(pair.key) ? pair.key : undefined, value: pair.value };
}
