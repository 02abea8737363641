/** Names that differ by more than this, or by more than one change per three letters, are not similar. */
const MOST_CHANGES = 2;
const LETTERS_PER_CHANGE = 3;

/** Returns the closest known name, if it is close enough to be a typo. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const allowed = Math.min(MOST_CHANGES, Math.floor(name.length / LETTERS_PER_CHANGE));
  const distances = known
    // Each change makes a name longer or shorter by at most one character, which is one or two UTF-16 units.
    .filter((other) => Math.abs(other.length - name.length) <= 2 * allowed)
    .map((other) => ({ other, changes: changesBetween(name.toLowerCase(), other.toLowerCase()) }));
  const [closest] = distances.sort((a, b) => a.changes - b.changes);
  return closest !== undefined && closest.changes <= allowed ? closest.other : undefined;
}

/** Returns the Damerau-Levenshtein distance of two names. */
function changesBetween(one: string, other: string): number {
  const [letters, opposites] = [[...one], [...other]];
  let before: number[] = [];
  let row = Array.from({ length: opposites.length + 1 }, (_, index) => index);
  for (const [index, letter] of letters.entries()) {
    const next = [index + 1];
    for (const [place, opposite] of opposites.entries()) {
      const replaced = row[place]! + (letter === opposite ? 0 : 1);
      const isSwapped = letter === opposites[place - 1] && letters[index - 1] === opposite;
      const swapped = isSwapped ? before[place - 1]! + 1 : replaced;
      next.push(Math.min(replaced, swapped, row[place + 1]! + 1, next[place]! + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1)!;
}
