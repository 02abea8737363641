import { type Cursor, Misfit } from './cursor.js';
import { type Operator, parseClause, parseVersion } from './versions.js';

const VARIABLES = [
  'os_name',
  'sys_platform',
  'platform_machine',
  'platform_python_implementation',
  'platform_release',
  'platform_system',
  'platform_version',
  'python_version',
  'python_full_version',
  'implementation_name',
  'implementation_version',
  'extra',
];
const VERSION_VARIABLES = ['python_version', 'python_full_version', 'implementation_version'];

const WORD = /[A-Za-z0-9_.]+/y;
const COMPARISON = /===|==|~=|!=|<=|>=|<|>|in\b|not[ \t]+in\b/y;
// The characters that PEP 508 allows between quotes, without those that a shell interprets: no platform name has
// them.
const TEXT = /"[A-Za-z0-9 (){}[\].,:/?!~@%^=+*#_-]*"|'[A-Za-z0-9 (){}[\].,:/?!~@%^=+*#_-]*'/y;

type Node = { join: 'and' | 'or'; parts: Node[] } | string;

/** Reads a marker of PEP 508 and returns it in canonical form. */
export function readMarker(cursor: Cursor): string {
  return render(readJoined(cursor, 'or'));
}

function readJoined(cursor: Cursor, join: 'and' | 'or'): Node {
  const readPart = () => (join === 'or' ? readJoined(cursor, 'and') : readAtom(cursor));
  const parts = [readPart()];
  while (cursor.take(join === 'or' ? /or\b/y : /and\b/y) !== undefined) parts.push(readPart());
  if (parts.length === 1) return parts[0]!;
  return { join, parts: parts.flatMap((part) => (isJoined(part, join) ? part.parts : [part])) };
}

const isJoined = (node: Node, join: string): node is Exclude<Node, string> =>
  typeof node !== 'string' && node.join === join;

function readAtom(cursor: Cursor): Node {
  if (cursor.take(/\(/y) === undefined) return readComparison(cursor);
  const inner = readJoined(cursor, 'or');
  if (cursor.take(/\)/y) === undefined)
    throw new Misfit('has a marker with a parenthesis that is not closed');
  return inner;
}

function readComparison(cursor: Cursor): string {
  const left = readOperand(cursor);
  const operator = cursor.take(COMPARISON)?.replace(/\s+/, ' ');
  if (operator === undefined) throw notAMarker(cursor);
  const right = readOperand(cursor);
  if (left.isVariable === right.isVariable) {
    throw new Misfit(
      `has a marker that does not compare a variable with a text in quotes: ${left.text} ${operator} ${right.text}`,
    );
  }
  const [variable, text] = left.isVariable ? [left.text, right.text] : [right.text, left.text];
  checkMeaning(variable, operator, text.slice(1, -1), left.isVariable);
  return `${left.text} ${operator} ${right.text}`;
}

function readOperand(cursor: Cursor): { text: string; isVariable: boolean } {
  const quoted = cursor.take(TEXT);
  if (quoted !== undefined) return { text: `"${quoted.slice(1, -1)}"`, isVariable: false };
  const before = cursor.rest;
  const word = cursor.take(WORD);
  if (word === undefined) throw notAMarker(cursor);
  if (!VARIABLES.includes(word)) {
    throw new Misfit(
      `has no marker after ";", at "${before}": a marker compares one of ${VARIABLES.join(', ')}, as in python_version < "3.12"`,
    );
  }
  return { text: word, isVariable: true };
}

/** Rejects comparisons that tools interpret differently, or fail on. */
function checkMeaning(variable: string, operator: string, text: string, isVariableFirst: boolean): void {
  if (operator === 'in' || operator === 'not in') return;
  if (!VERSION_VARIABLES.includes(variable)) {
    if (operator === '~=' || operator === '===') {
      throw new Misfit(`has a marker that compares ${variable} with "${operator}", which is for versions`);
    }
    return;
  }
  const isVersion = isVariableFirst
    ? typeof parseClause(operator as Operator, text) !== 'string'
    : parseVersion(text) !== undefined;
  if (!isVersion) {
    throw new Misfit(`has a marker that compares ${variable} with "${text}", which is not a version`);
  }
}

function notAMarker(cursor: Cursor): Misfit {
  const place = cursor.rest === '' ? 'its end' : `"${cursor.rest}"`;
  return new Misfit(
    `has something other than a marker after ";", at ${place}: write it as in python_version < "3.12"`,
  );
}

function render(node: Node): string {
  if (typeof node === 'string') return node;
  return node.parts
    .map((part) => (isJoined(part, 'or') && node.join === 'and' ? `(${render(part)})` : render(part)))
    .join(` ${node.join} `);
}
