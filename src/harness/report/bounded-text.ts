/** How much of a text a report shows. Servers write as much as they like; people and parsers read less. */
export interface Bounds {
  chars: number;
  lines: number;
}

const NUMBERS = new Intl.NumberFormat('en');
/** The end of a long text is often what tells, as with a traceback. */
const SHARE_OF_HEAD = 0.6;

/** The text, or its beginning and its end with a sentence between them about what was left out. */
export function bounded(text: string, { chars, lines }: Bounds): string {
  return boundLines(boundChars(text, chars), lines);
}

/** The same in one line. */
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
  // A sentence about one line would take as much room as that line.
  if (lines.length <= most + 1) return text;
  const head = Math.ceil(most * SHARE_OF_HEAD);
  const left = `… ${NUMBERS.format(lines.length - most)} lines left out …`;
  return [...lines.slice(0, head), left, ...lines.slice(lines.length - (most - head))].join('\n');
}

/** The place, or the one before it where two halves of a character would be parted. */
function cutBefore(text: string, place: number): number {
  const code = text.charCodeAt(place);
  return code >= 0xdc00 && code <= 0xdfff ? place - 1 : place;
}
