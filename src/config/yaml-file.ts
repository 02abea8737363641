import { readFileSync, statSync } from 'node:fs';
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  Parser,
  parseDocument,
  visit,
} from 'yaml';
import { PungiError } from '../base/errors.js';
import { fileProblem } from '../base/files.js';

const MAX_BYTES = 1024 * 1024;
/** The parser calls itself for every level, and ends the whole process where there are too many. */
const MAX_DEPTH = 32;

export interface YamlProblem {
  line: number | null;
  problem: string;
}

/** What a YAML file holds: plain values, the line of each, and what is wrong with it as YAML. */
export interface YamlFile {
  data: unknown;
  problems: YamlProblem[];
  /** Of a key or an item, by its path; null where it is not in the file. */
  lineOf(path: readonly (string | number)[]): number | null;
}

/** `what` names the file in a sentence, such as "The profiles file a.yaml". */
export function readYamlFile(path: string, what: string): YamlFile {
  const unreadable = (reason: string) =>
    new PungiError('CONFIGURATION_ERROR', `${what} cannot be read: ${reason}.`);
  let text: string;
  try {
    // Looked at first: a pipe or a device may never end.
    const stat = statSync(path);
    if (stat.size > MAX_BYTES) throw unreadable(`it is larger than ${MAX_BYTES} bytes`);
    if (!stat.isFile() && !stat.isDirectory()) throw unreadable('it is no regular file');
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw error instanceof PungiError ? error : unreadable(fileProblem(error));
  }
  return parseYaml(text);
}

export function parseYaml(text: string): YamlFile {
  if (isTooDeep(text)) {
    const problem = `it is nested more than ${MAX_DEPTH} levels deep`;
    return { data: undefined, problems: [{ line: null, problem }], lineOf: () => null };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const problems = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    line: lineAt(pos[0]),
    problem: `it is not valid YAML: ${message.split('\n', 1)[0]}`,
  }));
  for (const offset of aliasesIn(document)) {
    const problem = 'aliases (*name) are not allowed: write the value itself';
    problems.push({ line: lineAt(offset), problem });
  }
  const lineOf: YamlFile['lineOf'] = (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const node = nodeAt(document, path.slice(0, length));
      if (isNode(node) && node.range) return lineAt(node.range[0]);
    }
    return null;
  };
  return { data: problems.length > 0 ? undefined : (document.toJS() as unknown), problems, lineOf };
}

/** The key, where it is the member of a map: its value may begin lines below. */
function nodeAt(document: Document, path: readonly (string | number)[]): unknown {
  const parent = document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return document.getIn(path, true);
  return parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))?.key;
}

export function isTooDeep(text: string, levels = MAX_DEPTH): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme)); // the tree itself is made later
    if (parser.stack.length > levels) return true;
  }
  return false;
}

function aliasesIn(document: Document): number[] {
  const offsets: number[] = [];
  visit(document, {
    Alias: (_, node) => {
      offsets.push(node.range?.[0] ?? 0);
    },
  });
  return offsets;
}
