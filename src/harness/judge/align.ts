/** Two lists beside each other. */
export type Aligned<T> =
  | { kind: 'same'; count: number }
  | { kind: 'changed'; expected: T; actual: T }
  | { kind: 'removed'; expected: T }
  | { kind: 'added'; actual: T };

/** Above this, items are compared one by one: the table of what is common would grow with the square. */
const MAX_TABLE = 200;

/** What is common stays together; what lies between is paired in order, as changed items. */
export function alignItems<T>(
  expected: readonly T[],
  actual: readonly T[],
  same: (one: T, other: T) => boolean,
): Aligned<T>[] {
  let start = 0;
  const shorter = Math.min(expected.length, actual.length);
  while (start < shorter && same(expected[start]!, actual[start]!)) start += 1;
  let end = 0;
  while (
    end < shorter - start &&
    same(expected[expected.length - 1 - end]!, actual[actual.length - 1 - end]!)
  )
    end += 1;
  const mine = expected.slice(start, expected.length - end);
  const theirs = actual.slice(start, actual.length - end);
  return [
    ...(start > 0 ? [{ kind: 'same', count: start } as const] : []),
    ...alignMiddle(mine, theirs, same),
    ...(end > 0 ? [{ kind: 'same', count: end } as const] : []),
  ];
}

function alignMiddle<T>(
  mine: readonly T[],
  theirs: readonly T[],
  same: (one: T, other: T) => boolean,
): Aligned<T>[] {
  if (mine.length > MAX_TABLE || theirs.length > MAX_TABLE) return paired(mine, theirs);
  const isSame = mine.map((one) => theirs.map((other) => same(one, other)));
  const longest = commonLengths(isSame, mine.length, theirs.length);
  const aligned: Aligned<T>[] = [];
  let removed: T[] = [];
  let added: T[] = [];
  const flush = () => {
    aligned.push(...paired(removed, added));
    removed = [];
    added = [];
  };
  let row = 0;
  let column = 0;
  while (row < mine.length || column < theirs.length) {
    if (row < mine.length && column < theirs.length && isSame[row]![column]) {
      flush();
      aligned.push({ kind: 'same', count: 1 });
      row += 1;
      column += 1;
    } else if (
      column >= theirs.length ||
      (row < mine.length && longest[row + 1]![column]! >= longest[row]![column + 1]!)
    ) {
      removed.push(mine[row]!);
      row += 1;
    } else {
      added.push(theirs[column]!);
      column += 1;
    }
  }
  flush();
  return aligned;
}

/** How much is common from each place on. */
function commonLengths(isSame: readonly (readonly boolean[])[], rows: number, columns: number): number[][] {
  const lengths = Array.from({ length: rows + 1 }, () => new Array<number>(columns + 1).fill(0));
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      lengths[row]![column] = isSame[row]![column]
        ? lengths[row + 1]![column + 1]! + 1
        : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!);
    }
  }
  return lengths;
}

function paired<T>(removed: readonly T[], added: readonly T[]): Aligned<T>[] {
  const both = Math.min(removed.length, added.length);
  return [
    ...removed
      .slice(0, both)
      .map((expected, index) => ({ kind: 'changed', expected, actual: added[index]! }) as const),
    ...removed.slice(both).map((expected) => ({ kind: 'removed', expected }) as const),
    ...added.slice(both).map((actual) => ({ kind: 'added', actual }) as const),
  ];
}
