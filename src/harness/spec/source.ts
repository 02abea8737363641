import { readFileSync, statSync } from 'node:fs';
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
} from 'yaml';
import { fileProblem } from '../../base/file-problem.js';
import { isTooDeep } from '../../config/yaml-file.js';
import type { Position, SpecFault, SpecPath } from './fault.js';
import { specPathText } from './fault.js';

const MAX_BYTES = 4 * 1024 * 1024;
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
}

/** A reason instead of a text, where the file cannot be read. */
export function readBounded(file: string): { text: string } | { problem: string } {
  try {
    // Looked at first: a pipe or a device may never end.
    const stat = statSync(file);
    if (stat.size > MAX_BYTES) return { problem: `it is larger than ${MAX_BYTES} bytes` };
    if (!stat.isFile() && !stat.isDirectory()) return { problem: 'it is no regular file' };
    return { text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { problem: fileProblem(error) };
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
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  // The first ones: a file that is something else altogether has one for every token.
  const found = [...document.errors, ...document.warnings].slice(0, MOST_SYNTAX_FAULTS);
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
  return { file, data, fault };
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
