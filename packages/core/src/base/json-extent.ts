/** How much of JSON its readers have to go through. */
interface JsonExtent {
  /** How deep lists and maps are nested. */
  depth: number;
  /** Lists, maps, and what separates their entries. */
  parts: number;
}

const code = (mark: string) => mark.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [code('['), code(']'), code('{'), code('}')];

/** A longer text is skipped by the platform, which is faster for it, and slower for shorter ones. */
const LONG_TEXT = 64;

/** Whether JSON stays within both bounds: told from its bytes, before anything is made of what foreign hands wrote. */
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

/** Where the quote is that ends the text which begins here. */
function endOfText(json: Buffer, from: number): number {
  for (let at = from; at < json.length; at += 1) {
    const mark = json[at];
    if (mark === QUOTE) return at;
    if (mark === BACKSLASH) at += 1;
    if (at - from !== LONG_TEXT) continue;
    const quote = json.indexOf(QUOTE, at + 1);
    // After a backslash it may be a part of the text, or not: then every byte has to be looked at.
    if (quote < 0 || json[quote - 1] !== BACKSLASH) return quote < 0 ? json.length : quote;
  }
  return json.length;
}

/** How deep and how large a value is, counted up to one level more than `maxDepth`. Iterative, so any depth is safe. */
export function measureJson(value: unknown, maxDepth: number): { depth: number; nodes: number } {
  let depth = 0;
  let nodes = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= maxDepth) {
    const below: unknown[] = [];
    for (const one of level) {
      nodes += 1;
      if (typeof one !== 'object' || one === null) continue;
      // No spread: an array of a million items would not fit on the stack.
      for (const child of Array.isArray(one) ? one : Object.values(one)) below.push(child);
    }
    level = below;
    depth += 1;
  }
  return { depth, nodes };
}
