/** As long as names of tools may be. */
const LONGEST_NAME = 128;
/** With room for a number, names that share this much share their numbers. */
const COMMON = 110;

/** The last number that was given for a beginning: the next search goes on there. Names that are taken stay so. */
const numbers = new WeakMap<ReadonlySet<string>, Map<string, number>>();

/** The name with a suffix, and a number where that is taken as well. */
export function freeName(name: string, suffix: string, taken: ReadonlySet<string>): string {
  const plain = name.slice(0, LONGEST_NAME - suffix.length) + suffix;
  if (!taken.has(plain)) return plain;
  const last = numbers.get(taken) ?? new Map<string, number>();
  numbers.set(taken, last);
  const beginning = `${name.slice(0, COMMON - suffix.length)}${suffix}`;
  for (let number = last.get(beginning) ?? 2; ; number += 1) {
    const end = `${suffix}_${number}`;
    const candidate = name.slice(0, LONGEST_NAME - end.length) + end;
    if (taken.has(candidate)) continue;
    last.set(beginning, number);
    return candidate;
  }
}
