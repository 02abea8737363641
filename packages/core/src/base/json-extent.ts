/** The size of a JSON text, for its readers. */
interface JsonExtent {
  /** Nesting depth of arrays and objects. */
  depth: number;
  /** Number of arrays, objects and separators. */
  parts: number;
}

const code = (mark: string) => mark.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [code('['), code(']'), code('{'), code('}')];

/** Longer strings are skipped with `indexOf`, which is faster for them and slower for shorter ones. */
const LONG_TEXT = 64;

/** Checks both bounds on the raw bytes, before untrusted JSON is parsed. */
export function isWithin(json: Buffer, most: JsonExtent): boolean {
  let depth = 0;
  let parts = 0;
  for (let at = 0; at < json.length && depth <= most.depth && parts <= most.parts; at += 1) {
    const mark = json[at];
    if (mark === QUOTE) at = endOfText(json, at + 1);
    else if (mark === OPEN_LIST || mark === OPEN_MAP) {
      depth += 1;
      parts += 1;
    } else if (mark === CLOSE_LIST || mark === CLOSE_MAP) depth -= 1;
    else if (mark === COMMA || mark === COLON) parts += 1;
  }
  return depth <= most.depth && parts <= most.parts;
}

/** Returns the position of the quote that ends the string. */
function endOfText(json: Buffer, from: number): number {
  for (let at = from; at < json.length; at += 1) {
    const mark = json[at];
    if (mark === QUOTE) return at;
    if (mark === BACKSLASH) at += 1;
    if (at - from !== LONG_TEXT) continue;
    const quote = json.indexOf(QUOTE, at + 1);
    // A quote after a backslash may be part of the string, so every byte is checked from here.
    if (quote < 0 || json[quote - 1] !== BACKSLASH) return quote < 0 ? json.length : quote;
  }
  return json.length;
}

interface Measures {
  /** How deep lists and maps are nested, counted up to one more than the largest depth asked for. */
  depth: number;
  nodes: number;
  /** 1e999 is JSON, and is read as a number that JSON cannot have. */
  hasInfinity: boolean;
}

export function measureJson(value: unknown, maxDepth: number): Measures {
  let depth = 0;
  let nodes = 0;
  let hasInfinity = false;
  // Iterative, so any depth is safe.
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= maxDepth) {
    const below: unknown[] = [];
    let isNested = false;
    for (const one of level) {
      nodes += 1;
      if (one === Infinity || one === -Infinity) hasInfinity = true;
      if (typeof one !== 'object' || one === null) continue;
      isNested = true;
      // No spread: an array of a million items would overflow the stack.
      for (const child of Array.isArray(one) ? one : Object.values(one)) below.push(child);
    }
    if (isNested) depth += 1;
    level = below;
  }
  return { depth, nodes, hasInfinity };
}

/** Whether lists and maps are nested at most so deep, so that every reader can take the value. */
export const isShallowJson = (value: unknown, maxDepth: number): boolean =>
  measureJson(value, maxDepth).depth <= maxDepth;
