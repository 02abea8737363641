/** A printed object with "valid": false. */
export interface PrintedVerdict {
  /** The line of stdout, from 1, on which the object begins. */
  line: number;
  /** Present if the object is small enough to parse. */
  value?: unknown;
}

/** More verdicts add nothing. */
const MOST_VERDICTS = 100;
/** The size limit for parsing one object; a larger one still counts. */
const MOST_READ = 256 * 1024;
/** Deeper maps and lists are only counted. */
const MOST_DEPTH = 20_000;
const MOST_KEY = 64;
const LITERAL = /^(?:true|false|null|NaN|-?Infinity|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

const [NEWLINE, QUOTE, BACKSLASH, COMMA, COLON] = [...'\n"\\,:'].map((sign) => sign.charCodeAt(0));
const [OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST] = [...'{}[]'].map((sign) => sign.charCodeAt(0));

const isSpace = (byte: number) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === NEWLINE;

/** A character of a number, or of a literal such as true. */
const isLiteralChar = (byte: number) =>
  (byte >= 0x30 && byte <= 0x39) ||
  ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ||
  byte === 0x2b ||
  byte === 0x2d ||
  byte === 0x2e;

/** A map or a list that is being scanned. */
interface Frame {
  isMap: boolean;
  /** True if only space and other values come before it on its line. */
  startsLine: boolean;
  line: number;
  expects: 'first' | 'key' | 'colon' | 'value' | 'comma';
  isValidKey: boolean;
  saysInvalid: boolean;
  /** Nested objects that begin a line: they count if this one turns out not to be JSON. */
  inner: PrintedVerdict[];
}

/**
 * Finds verdicts in the output of a script, in chunks of any size: JSON objects that begin a line, on one or several lines,
 * whose own key "valid" is false. Each byte is scanned once, with little memory.
 */
export class PrintedVerdicts {
  readonly #found: PrintedVerdict[] = [];
  readonly #stack: Frame[] = [];
  /** The number of levels below the deepest frame. */
  #deeper = 0;
  /** True if the line so far has only space, and outside of JSON also whole values. */
  #isLineStart = true;
  #skipsLine = false;
  #line = 1;
  #token: 'none' | 'text' | 'literal' = 'none';
  #isEscaped = false;
  #literal = '';
  #read: Buffer[] = [];
  #readBytes = 0;

  write(chunk: Buffer): void {
    let kept = 0; // start of the current object
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      const wasOutside = this.#stack.length === 0;
      if (wasOutside) kept = at;
      this.#take(byte, () => this.#keep(chunk.subarray(kept, at + 1)));
      if (byte === NEWLINE) this.#line += 1;
    }
    if (this.#stack.length > 0) this.#keep(chunk.subarray(kept));
  }

  finish(): PrintedVerdict[] {
    this.#fail();
    return this.#found.slice(0, MOST_VERDICTS);
  }

  #take(byte: number, keepAll: () => void): void {
    if (this.#stack.length === 0) {
      this.#takeOutside(byte);
    } else if (this.#takeInside(byte, keepAll)) {
      if (byte === NEWLINE) this.#isLineStart = true;
      else if (!isSpace(byte)) this.#isLineStart = false;
    } else {
      // Not JSON after all. This line may start another value.
      const isFirst = this.#isLineStart;
      this.#fail();
      this.#skipsLine = !isFirst;
      this.#takeOutside(byte);
    }
  }

  #takeOutside(byte: number): void {
    if (byte === NEWLINE) {
      this.#skipsLine = false;
      this.#isLineStart = true;
    } else if (!this.#skipsLine && (byte === OPEN_MAP || byte === OPEN_LIST)) {
      this.#open(byte === OPEN_MAP, true);
      this.#isLineStart = false;
    } else if (!isSpace(byte)) {
      this.#skipsLine = true;
    }
  }

  /** Returns false if the byte is not valid JSON here. */
  #takeInside(byte: number, keepAll: () => void): boolean {
    if (this.#token === 'text') return this.#takeInText(byte);
    if (this.#token === 'literal') {
      if (isLiteralChar(byte)) {
        if (this.#literal.length <= MOST_KEY) this.#literal += String.fromCharCode(byte);
        return true;
      }
      this.#token = 'none';
      if (this.#deeper === 0 && !this.#endLiteral()) return false;
    }
    if (isSpace(byte)) return true;
    return this.#deeper > 0 ? this.#takeDeeper(byte) : this.#takeSign(byte, keepAll);
  }

  #takeInText(byte: number): boolean {
    if (byte === NEWLINE) return false;
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) {
      this.#token = 'none';
      if (this.#deeper === 0) this.#endText();
      return true;
    }
    if (this.#literal.length <= MOST_KEY) this.#literal += String.fromCharCode(byte);
    return true;
  }

  /** Below the depth limit, only the end matters. */
  #takeDeeper(byte: number): boolean {
    if (byte === QUOTE) this.#token = 'text';
    else if (byte === OPEN_MAP || byte === OPEN_LIST) this.#deeper += 1;
    else if (byte === CLOSE_MAP || byte === CLOSE_LIST) this.#deeper -= 1;
    return true;
  }

  #takeSign(byte: number, keepAll: () => void): boolean {
    const frame = this.#stack.at(-1)!;
    const { expects, isMap } = frame;
    const isDue = expects === 'value' || (expects === 'first' && !isMap);
    this.#literal = '';
    if (byte === CLOSE_MAP || byte === CLOSE_LIST) {
      if (isMap !== (byte === CLOSE_MAP) || (expects !== 'first' && expects !== 'comma')) return false;
      if (this.#stack.length === 1) keepAll();
      this.#close();
      return true;
    }
    if (byte === COMMA && expects === 'comma') frame.expects = isMap ? 'key' : 'value';
    else if (byte === COLON && expects === 'colon') frame.expects = 'value';
    else if (byte === QUOTE && (isDue || expects === 'key' || expects === 'first')) this.#token = 'text';
    else if ((byte === OPEN_MAP || byte === OPEN_LIST) && isDue) {
      frame.expects = 'comma';
      if (this.#stack.length === MOST_DEPTH) this.#deeper = 1;
      else this.#open(byte === OPEN_MAP, this.#isLineStart);
    } else if (isDue && byte > 0x20 && byte !== COMMA && byte !== COLON) {
      this.#token = 'literal';
      this.#literal = String.fromCharCode(byte);
    } else return false;
    return true;
  }

  #endText(): void {
    const frame = this.#stack.at(-1)!;
    if (frame.isMap && frame.expects !== 'value') {
      frame.expects = 'colon';
      frame.isValidKey = isValidKey(this.#literal);
    } else frame.expects = 'comma';
  }

  #endLiteral(): boolean {
    const frame = this.#stack.at(-1)!;
    frame.expects = 'comma';
    if (frame.isMap && frame.isValidKey && this.#literal === 'false') frame.saysInvalid = true;
    // A number may be longer than the kept part.
    return this.#literal.length > MOST_KEY || LITERAL.test(this.#literal);
  }

  #open(isMap: boolean, startsLine: boolean): void {
    this.#stack.push({
      isMap,
      startsLine,
      line: this.#line,
      expects: 'first',
      isValidKey: false,
      saysInvalid: false,
      inner: [],
    });
  }

  #close(): void {
    const { startsLine, saysInvalid, line, inner } = this.#stack.pop()!;
    const outer = this.#stack.at(-1);
    const own = saysInvalid ? [{ line, ...(outer === undefined ? this.#value() : {}) }] : [];
    add(outer?.inner ?? this.#found, startsLine ? own : inner);
    if (outer === undefined) this.#forget();
  }

  /** The current value is not JSON, but nested objects may be. */
  #fail(): void {
    for (const { inner } of this.#stack) add(this.#found, inner);
    this.#stack.length = 0;
    this.#deeper = 0;
    this.#token = 'none';
    this.#isEscaped = false;
    this.#forget();
  }

  #keep(part: Buffer): void {
    this.#readBytes += part.length;
    if (this.#readBytes <= MOST_READ) this.#read.push(part);
  }

  #forget(): void {
    this.#read = [];
    this.#readBytes = 0;
  }

  #value(): { value?: unknown } {
    if (this.#readBytes > MOST_READ) return {};
    try {
      return { value: JSON.parse(Buffer.concat(this.#read).toString('utf8')) };
    } catch {
      return {}; // Python writes NaN, which is not JSON
    }
  }
}

function isValidKey(written: string): boolean {
  if (!written.includes('\\')) return written === 'valid';
  try {
    return JSON.parse(`"${written}"`) === 'valid';
  } catch {
    return false;
  }
}

function add(to: PrintedVerdict[], more: readonly PrintedVerdict[]): void {
  if (to.length < MOST_VERDICTS) to.push(...more.slice(0, MOST_VERDICTS - to.length));
}
