/** Deeper than this, an answer is not looked into: everything that does calls itself for each level. */
export const MAX_DEPTH = 256;

/** How deep and how large a value is, without a call for each level. */
export function measure(value: unknown): { depth: number; nodes: number } {
  let depth = 0;
  let nodes = 0;
  let level: unknown[] = [value];
  while (level.length > 0 && depth <= MAX_DEPTH) {
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
