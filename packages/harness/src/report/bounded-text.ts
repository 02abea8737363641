/**
 * Limits for the part of a text that a report shows. Servers write any amount; people and parsers read less.
 */
export interface Bounds {
  chars: number;
  lines: number;
}

const NUMBERS = new Intl.NumberFormat('en');
/** The end of a long text, such as a traceback, is often the important part. */
const SHARE_OF_HEAD = 0.6;

/** Returns the text, or its head and tail around a note about the omitted part. */
export function bounded(text: string, { chars, lines }: Bounds): string {
  return boundLines(boundChars(text, chars), lines);
}

/** Does the same on one line. */
export const boundedLine = (text: string, chars: number): string =>
  boundChars(text, chars, ' ').replaceAll(/\s+/g, ' ').trim();

function boundChars(text: string, most: number, around = '\n'): string {
  if (text.length <= most) return text;
  const head = cutBefore(text, Math.floor(most * SHARE_OF_HEAD));
  const tail = cutBefore(text, text.length - (most - head));
  const left = `… ${NUMBERS.format(tail - head)} characters left out …`;
  return `${text.slice(0, head)}${around}${left}${around}${text.slice(tail)}`;
}

function boundLines(text: string, most: number): string {
  const lines = text.split('\n');
  // A note about one omitted line would take as much room as the line.
  if (lines.length <= most + 1) return text;
  const head = Math.ceil(most * SHARE_OF_HEAD);
  const left = `… ${NUMBERS.format(lines.length - most)} lines left out …`;
  return [...lines.slice(0, head), left, ...lines.slice(lines.length - (most - head))].join('\n');
}

/** Moves the position back if it would split a surrogate pair. */
function cutBefore(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place;
}

/** A longer list or object takes a line per member. */
const LINE = 88;
/** Servers can nest deeper than recursion can follow. */
const DEEPEST = 30;

// Format characters, except the two joiners used in scripts and emoji; line and paragraph separators.
const UNSEEN = /(?![\u200C\u200D])[\p{Cf}\u007F-\u009F\u2028\u2029]/gu;

/**
 * Formats a value as JSON that shows every character: invisible ones become escapes. Only the shown part is
 * searched.
 */
export const valueText = (value: unknown, bounds: Bounds): string =>
  bounded(written(value, '', 0), bounds).replace(UNSEEN, escaped);

function written(value: unknown, indent: string, depth: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (depth === DEEPEST) return `${open} … nested deeper … ${close}`;
  const members = Array.isArray(value)
    ? value.map((item) => written(item, inner, depth + 1))
    : Object.entries(value).map(
        ([key, item]) => `${JSON.stringify(key)}: ${written(item, inner, depth + 1)}`,
      );
  const length = members.reduce((sum, member) => sum + member.length + 2, indent.length);
  if (length <= LINE && !members.some((member) => member.includes('\n'))) {
    return `${open}${members.join(', ')}${close}`;
  }
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}

function escaped(character: string): string {
  let text = '';
  for (let at = 0; at < character.length; at += 1) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return text;
}
