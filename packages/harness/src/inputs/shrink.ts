import { isMap } from '../judge/answer.js';
import { jsonEqual } from '../judge/diff.js';

const MOST_TRIES = 60;

/** Shrinks a value step by step to the smallest one that still passes the check. */
export async function shrink<T>(
  found: T,
  stillFails: (value: T) => Promise<boolean>,
  mostTries = MOST_TRIES,
): Promise<T> {
  let smallest = found;
  let tries = 0;
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const candidate of smallerThan(smallest)) {
      if (tries >= mostTries) return smallest;
      tries += 1;
      if (!(await stillFails(candidate as T))) continue;
      smallest = candidate as T;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

/** Values that are one step smaller, the smallest first. */
function* smallerThan(value: unknown): Generator<unknown> {
  if (Array.isArray(value)) yield* smallerArrays(value);
  else if (isMap(value)) yield* smallerMaps(value);
  else if (typeof value === 'string') yield* smallerTexts(value);
  else if (typeof value === 'number') yield* smallerNumbers(value);
}

function* smallerArrays(items: readonly unknown[]): Generator<unknown> {
  if (items.length === 0) return;
  if (items.length > 1) yield [];
  if (items.length > 2) yield items.slice(0, Math.ceil(items.length / 2));
  for (const index of items.keys()) yield items.toSpliced(index, 1);
  for (const [index, item] of items.entries())
    for (const smaller of smallerThan(item)) yield items.with(index, smaller);
}

function* smallerMaps(map: Record<string, unknown>): Generator<unknown> {
  const names = Object.keys(map);
  if (names.length > 1) yield {};
  for (const name of names) yield Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));
  for (const name of names) for (const smaller of smallerThan(map[name])) yield { ...map, [name]: smaller };
}

function* smallerTexts(text: string): Generator<string> {
  const characters = [...text];
  if (characters.length === 0) return;
  yield '';
  if (characters.length > 1) {
    const half = Math.ceil(characters.length / 2);
    yield characters.slice(0, half).join('');
    yield characters.slice(half).join('');
    yield characters.slice(1).join('');
    yield characters.slice(0, -1).join('');
  }
}

function* smallerNumbers(number: number): Generator<number> {
  const candidates = [0, Math.sign(number), Math.trunc(number / 2), Math.trunc(number)];
  for (const candidate of new Set(candidates))
    if (Math.abs(candidate) < Math.abs(number) && !jsonEqual(candidate, number)) yield candidate;
}
