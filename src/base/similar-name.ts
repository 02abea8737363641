/** More changes than this, and it is another name. */
const MOST_CHANGES = 2;

/** The name that was probably meant: the closest, if it is close. */
export function similarName(name: string, known: readonly string[]): string | undefined {
  const allowed = Math.min(MOST_CHANGES, Math.floor(name.length / 2));
  const distances = known
    // Each change makes a name longer or shorter by one character, which is one or two units, at most.
    .filter((other) => Math.abs(other.length - name.length) <= 2 * allowed)
    .map((other) => ({ other, changes: changesBetween(name.toLowerCase(), other.toLowerCase()) }));
  const [closest] = distances.sort((a, b) => a.changes - b.changes);
  return closest !== undefined && closest.changes <= allowed ? closest.other : undefined;
}

/** How many letters have to be put in, left out or replaced. */
function changesBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (const [place, opposite] of [...other].entries()) {
      const replaced = row[place]! + (letter === opposite ? 0 : 1);
      next.push(Math.min(replaced, row[place + 1]! + 1, next[place]! + 1));
    }
    row = next;
  }
  return row.at(-1)!;
}
