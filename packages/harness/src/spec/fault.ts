import { readBounded } from '@pungi/core/base';
import { type Position, parseYaml } from '@pungi/core/config';

import { isNode, isScalar, type Scalar } from 'yaml';

export type { Position };

/** A problem in a specification. */
export interface SpecFault {
  file: string;
  /** Null if the whole file is meant. */
  position: Position | null;
  /** The path, such as "tools[0].tests[2].expected"; empty for the whole file. */
  path: string;
  message: string;
  /** A likely correction. */
  suggestion?: string;
}

export type SpecPath = readonly (string | number)[];

/** Formats a path: tools[0].tests. */
export function specPathText(path: SpecPath): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      if (!/^[\w$-]+$/.test(key)) return `[${JSON.stringify(key)}]`;
      return index === 0 ? key : `.${key}`;
    })
    .join('');
}

/** Formats a fault on one line: a.yaml:3:7: tools[0].nam is not known (did you mean "name"?) */
export function faultText({ file, position, path, message, suggestion }: SpecFault): string {
  const at = position === null ? file : `${file}:${position.line}:${position.column}`;
  const problem = path === '' ? message : `${path} ${message}`;
  return `${at}: ${problem}${suggestion === undefined ? '' : ` (${suggestion})`}`;
}

/** Formats a warning: a.yaml:3:7: warning: tools[0].nam is not known and is ignored (did you mean "name"?) */
export const warningText = (warning: SpecFault): string =>
  faultText({ ...warning, path: `warning:${warning.path === '' ? '' : ` ${warning.path}`}` });

const LONGEST_CHAIN = 12;

/** Joins a chain of names for a sentence. */
export const chainText = (chain: readonly string[], between: string): string =>
  (chain.length <= LONGEST_CHAIN
    ? chain
    : [...chain.slice(0, LONGEST_CHAIN / 2), '…', ...chain.slice(-LONGEST_CHAIN / 2)]
  ).join(between);

/** Sorts faults by file and line. A fault that all rows of a matrix share is reported once. */
export function sortedFaults(faults: readonly SpecFault[], files: readonly string[]): SpecFault[] {
  const once = new Map(faults.map((fault) => [faultText(fault), fault]));
  const place = ({ file, position }: SpecFault) => [
    files.indexOf(file),
    position?.line ?? 0,
    position?.column ?? 0,
  ];
  return [...once.values()]
    .map((fault) => ({ fault, at: place(fault) }))
    .sort(
      (one, other) => one.at.map((part, index) => part - other.at[index]!).find((part) => part !== 0) ?? 0,
    )
    .map(({ fault }) => fault);
}

const MAX_BYTES = 4 * 1024 * 1024;
/** Specifications contain JSON Schemas, which nest deeper than settings. */
const MAX_LEVELS = 128;

/** A parsed YAML or JSON file, with the position of every value. */
export interface Source {
  file: string;
  data: unknown;
  /** Makes a fault at a path, or at its key if the value itself is not at fault. */
  fault(
    path: SpecPath,
    message: string,
    more?: { suggestion?: string | undefined; atKey?: boolean },
  ): SpecFault;
  /**
   * Maps a position inside a text to the file; if their lines do not correspond, returns the start of the
   * text.
   */
  placeInText(path: SpecPath, place: Position): Position | null;
}

/** Reads the text of a file of a specification, or returns the reason why it cannot be read. */
export function readText(file: string): { text: string } | { problem: string } {
  const read = readBounded(file, MAX_BYTES);
  return 'problem' in read ? read : { text: read.bytes.toString() };
}

/** Parses a file, or returns its YAML errors. */
export function parseSource(file: string, text: string): Source | SpecFault[] {
  const yaml = parseYaml(text, { maxLevels: MAX_LEVELS, allowAliases: true });
  if (yaml.problems.length > 0)
    return yaml.problems.map(({ position, problem }) => ({ file, position, path: '', message: problem }));
  const fault: Source['fault'] = (path, message, { suggestion, atKey = false } = {}) => ({
    file,
    position: yaml.positionOf(path, { atKey }),
    path: specPathText(path),
    message,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
  const placeInText: Source['placeInText'] = (path, place) => {
    const node = yaml.nodeAt(path);
    if (!isNode(node) || !node.range) return null;
    const inLine = isScalar(node) && place.line === 1 ? offsetInLine(node, text) : undefined;
    if (inLine !== undefined) return yaml.positionAt(inLine + place.column - 1);
    const begin = yaml.positionAt(node.range[0]);
    return (isScalar(node) && placeInBlock(node, text.split(/\r?\n/), begin, place)) || begin;
  };
  return { file, data: yaml.data, fault, placeInText };
}

/** The offset of the text of a scalar that is written verbatim on one line. */
function offsetInLine(node: Scalar, text: string): number | undefined {
  const [from, to] = node.range!;
  const isQuoted = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE';
  const written = isQuoted ? text.slice(from + 1, to - 1) : text.slice(from, to);
  if (node.type?.startsWith('BLOCK') || written !== node.value) return undefined;
  return isQuoted ? from + 1 : from;
}

/** A block that begins with | has one line in the file per line of text, all indented alike. */
function placeInBlock(
  { type, value }: Scalar,
  lines: readonly string[],
  begin: Position,
  place: Position,
): Position | undefined {
  if (type !== 'BLOCK_LITERAL' || typeof value !== 'string') return undefined;
  const own = value.split('\n');
  const full = own.findIndex((line) => line.trim() !== '');
  // `begin` is the line of the bar, counted from 1: the text starts on the next line.
  const indent = (lines[begin.line + full] ?? '').trimEnd().length - (own[full] ?? '').trimEnd().length;
  return { line: begin.line + place.line, column: Math.max(0, indent) + place.column };
}
