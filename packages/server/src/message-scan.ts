/** The most that one message of a client may be. Each bound is far above honest use, and keeps parsing to some tens of ms. */
export const MESSAGE_LIMITS = {
  bytes: 8 * 1024 * 1024,
  /** A context may be 500 deep, and lies in a few objects of the protocol. */
  depth: 512,
  /** Lists and objects. */
  containers: 100_000,
  /** Names in objects: they cost the most. */
  keys: 50_000,
  /** Those of the message, its params, its arguments and its _meta: they are checked one by one. */
  ownKeys: 5000,
  /** Commas: about the number of values. */
  values: 1_000_000,
} as const;
export type MessageLimits = { readonly [Name in keyof typeof MESSAGE_LIMITS]: number };

/** A message that is not parsed, and why. */
export interface Refused {
  /** The request's id, where it was found; null is what JSON-RPC says for others. */
  id: string | number | null;
  problem: string;
}

const WORDS: Record<keyof MessageLimits, string> = {
  bytes: 'bytes',
  depth: 'levels of nesting',
  containers: 'lists and objects',
  keys: 'names in objects',
  ownKeys: 'arguments and other names of its own',
  values: 'values',
};

const byteOf = (mark: string) => mark.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [byteOf('"'), byteOf('\\'), byteOf(','), byteOf(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [byteOf('['), byteOf(']'), byteOf('{'), byteOf('}')];
/** An id is a number or a short text. */
const MAX_MEMBER = 300;

/**
 * Looks at the bytes of a JSON-RPC message as they come, before anything is made of them: one pass, no memory. It goes on
 * after a limit was exceeded, to find the id that the refusal is for.
 */
export class MessageScan {
  readonly #limits: MessageLimits;
  readonly #counts: Record<keyof MessageLimits, number> = {
    bytes: 0,
    depth: 0,
    containers: 0,
    keys: 0,
    ownKeys: 0,
    values: 0,
  };
  #depth = 0;
  /** The message, its params, its arguments; a batch is a list around it. */
  #ownDepth = 3;
  #isText = false;
  #isEscaped = false;
  /** The current member of the outermost object, without what is nested in it. */
  #member: number[] = [];
  #id: string | number | null = null;

  constructor(limits: MessageLimits = MESSAGE_LIMITS) {
    this.#limits = limits;
  }

  get id(): string | number | null {
    return this.#id;
  }

  get bytes(): number {
    return this.#counts.bytes;
  }

  /** The first limit that the message exceeds, as a sentence; undefined while it is within all of them. */
  get problem(): string | undefined {
    const names = Object.keys(WORDS) as (keyof MessageLimits)[];
    const name = names.find((one) => this.#counts[one] > this.#limits[one]);
    return name && `The message has more than ${this.#limits[name]} ${WORDS[name]}: send less at a time.`;
  }

  add(chunk: Buffer): void {
    const counts = this.#counts;
    counts.bytes += chunk.length;
    for (let at = 0; at < chunk.length; at += 1) {
      const mark = chunk[at]!;
      if (this.#depth === 1 && this.#member.length < MAX_MEMBER) this.#member.push(mark);
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (mark === BACKSLASH) this.#isEscaped = true;
        else if (mark === QUOTE) this.#isText = false;
      } else if (mark === QUOTE) this.#isText = true;
      else if (mark === COMMA) {
        counts.values += 1;
        if (this.#depth === 1) this.#endMember();
      } else if (mark === COLON) {
        counts.keys += 1;
        if (this.#depth <= this.#ownDepth) counts.ownKeys += 1;
      } else if (mark === OPEN_LIST || mark === OPEN_MAP) {
        counts.containers += 1;
        this.#depth += 1;
        if (counts.containers === 1 && mark === OPEN_LIST) this.#ownDepth += 1;
        if (this.#depth > counts.depth) counts.depth = this.#depth;
      } else if (mark === CLOSE_LIST || mark === CLOSE_MAP) {
        if (this.#depth === 1) this.#endMember();
        this.#depth -= 1;
      }
    }
  }

  #endMember(): void {
    const text = Buffer.from(this.#member.slice(0, -1)).toString();
    this.#member = [];
    const [, value] = /^\s*"id"\s*:\s*("[^"\\]*"|-?\d{1,15})\s*$/.exec(text) ?? [];
    if (value !== undefined) this.#id = JSON.parse(value) as string | number;
  }
}
