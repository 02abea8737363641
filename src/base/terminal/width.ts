// Neither list is complete; what they miss is an ornament that is cut one column early or late.
const WIDE =
  /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6]$/u;
const UNSPACED = /^[\p{M}\u200B-\u200D]$/u;

function widthOfOne(character: string): number {
  if (UNSPACED.test(character)) return 0;
  return WIDE.test(character) || /^\p{Emoji_Presentation}$/u.test(character) ? 2 : 1;
}

/** Columns that a line of text takes on a terminal. */
export const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + widthOfOne(character), 0);

/** The text, or as much of it as fits before an ellipsis. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let fitting = '';
  let width = 1;
  for (const character of text) {
    width += widthOfOne(character);
    if (width > columns) break;
    fitting += character;
  }
  return `${fitting.trimEnd()}…`;
}
