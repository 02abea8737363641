/** How much of JSON its readers have to go through. */
export interface JsonExtent {
  /** How deep lists and maps are nested. */
  depth: number;
  /** Lists, maps, and what separates their entries. */
  parts: number;
}

const code = (mark: string) => mark.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [code('['), code(']'), code('{'), code('}')];

/** Whether JSON stays within both bounds: told from its bytes, before anything is made of what foreign hands wrote. */
export function isWithin(json: Buffer, most: JsonExtent): boolean {
  let depth = 0;
  let parts = 0;
  let isText = false;
  for (let at = 0; at < json.length && depth <= most.depth && parts <= most.parts; at += 1) {
    const mark = json[at];
    if (mark === QUOTE) isText = !isText;
    else if (isText) at += mark === BACKSLASH ? 1 : 0;
    else if (mark === OPEN_LIST || mark === OPEN_MAP) {
      depth += 1;
      parts += 1;
    } else if (mark === CLOSE_LIST || mark === CLOSE_MAP) depth -= 1;
    else if (mark === COMMA || mark === COLON) parts += 1;
  }
  return depth <= most.depth && parts <= most.parts;
}
