/** Limits for one message of a client. Each is far above honest use and keeps parsing to some tens of ms. */
export const MESSAGE_LIMITS = {
  bytes: 8 * 1024 * 1024,
  /** A context may be 500 levels deep and sits inside a few protocol objects. */
  depth: 512,
  /** Counts lists and objects. */
  containers: 100_000,
  /** Counts names in objects, which cost the most. */
  keys: 50_000,
  /** Counts names in the message, its params, arguments and _meta, which are checked one by one. */
  ownKeys: 5000,
  /** Counts commas, which is about the number of values. */
  values: 1_000_000,
} as const;
export type MessageLimits = { readonly [Name in keyof typeof MESSAGE_LIMITS]: number };

/** A message that is refused without being parsed, and why. */
export interface Refused {
  /** The request's id if it was found, else null as in JSON-RPC. */
  id: string | number | null;
  problem: string;
}

const UNITS: Record<keyof MessageLimits, string> = {
  bytes: 'bytes',
  depth: 'levels of nesting',
  containers: 'lists and objects',
  keys: 'names in objects',
  ownKeys: 'arguments and other top-level names',
  values: 'values',
};

const byteOf = (mark: string) => mark.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [byteOf('"'), byteOf('\\'), byteOf(','), byteOf(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [byteOf('['), byteOf(']'), byteOf('{'), byteOf('}')];
/** An id is a number or a short string. */
const MAX_MEMBER = 300;

/**
 * Scans the bytes of a JSON-RPC message as they arrive, before they are parsed: one pass, constant memory. It continues
 * after a limit is exceeded, to find the id that the refusal answers.
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
  /** Depth of the message, its params and its arguments; a batch adds one list around them. */
  #ownDepth = 3;
  #isText = false;
  #isEscaped = false;
  /** The current member of the outermost object, without nested values. */
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
    const names = Object.keys(UNITS) as (keyof MessageLimits)[];
    const name = names.find((one) => this.#counts[one] > this.#limits[one]);
    return (
      name &&
      `The message has more than ${this.#limits[name]} ${UNITS[name]}: split it into smaller requests.`
    );
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
