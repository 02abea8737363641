/** Below these keys are the owner's own names, which mean what they say. */
const OWN_NAMES = ['templateVars'];

interface KeyProblem {
  path: (string | number)[];
  problem: string;
}

/** A value whose keys are spelled as ours, and the way back to how they were written. */
export interface Spelled {
  value: unknown;
  problems: KeyProblem[];
  /** The path as it is in the file; what is not there, as the documentation spells it. */
  written: Written;
}

export type Written = (path: readonly PropertyKey[]) => (string | number)[];

export const snakeCase = (key: string): string =>
  key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const camelCase = (key: string) =>
  key.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** One rule for every key: cache_ttl is cacheTtl. A key that is there in both spellings is a problem. */
export function spellKeys(value: unknown): Spelled {
  const problems: KeyProblem[] = [];
  const spelling = new Map<string, string>();
  const spell = (one: unknown, path: readonly (string | number)[]): unknown => {
    if (Array.isArray(one)) return one.map((item, index) => spell(item, [...path, index]));
    if (typeof one !== 'object' || one === null) return one;
    const spelled = new Map<string, unknown>();
    for (const [key, member] of Object.entries(one)) {
      const name = camelCase(key);
      const place = [...path, name];
      if (spelled.has(name)) {
        const other = spelling.get(keyOf(place)) ?? name;
        problems.push({ path: place, problem: `is there twice, as "${other}" and as "${key}"` });
      }
      spelling.set(keyOf(place), key);
      spelled.set(name, OWN_NAMES.includes(name) ? member : spell(member, place));
    }
    return Object.fromEntries(spelled);
  };
  return {
    value: spell(value, []),
    problems,
    written: (path) =>
      documented(path).map((part, index) => spelling.get(keyOf(path.slice(0, index + 1))) ?? part),
  };
}

/** A path as the documentation spells it. */
export const documented: Written = (path) =>
  path.map((part, index) => {
    if (typeof part !== 'string') return typeof part === 'symbol' ? String(part) : part;
    return OWN_NAMES.includes(String(path[index - 1])) ? part : snakeCase(part);
  });

const keyOf = (path: readonly PropertyKey[]) => path.map(String).join('\0');
