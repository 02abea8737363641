import { readBounded } from '@pungi/core/base';
import { type Position, parseYaml } from '@pungi/core/config';
import { isNode, isScalar, type Scalar } from 'yaml';
import { type SpecFault, type SpecPath, specPathText } from './fault.js';

const MAX_BYTES = 4 * 1024 * 1024;
/** Specifications hold JSON Schemas, which are deeper than settings. */
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

/** The text of a file that a specification consists of, or the reason why it cannot be read. */
export function readText(file: string): { text: string } | { problem: string } {
  const read = readBounded(file, MAX_BYTES);
  return 'problem' in read ? read : { text: read.bytes.toString() };
}

/** What a file holds, or what is wrong with it as YAML. */
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
