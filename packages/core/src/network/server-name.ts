/** The result of parsing the first bytes of a connection. */
export type Hello =
  | { kind: 'incomplete' }
  | { kind: 'not-tls' }
  /** null if it names no server. */
  | { kind: 'hello'; serverName: string | null; hidesName: boolean };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const LONGEST_RECORD = 16_384;
/** A real one has at most two kilobytes, including those with post-quantum keys. */
const LONGEST_HELLO = 32_768;
const SERVER_NAME = 0;
const ENCRYPTED_HELLO = 0xfe0d;
const HOST_NAME = 0;

const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
const INCOMPLETE: Hello = { kind: 'incomplete' };
const NOT_TLS: Hello = { kind: 'not-tls' };

/**
 * Parses the ClientHello of a TLS connection, which may be split into records and segments anywhere. Each byte is
 * read once.
 */
export class HelloReader {
  readonly #header = Buffer.alloc(RECORD_HEADER);
  #headerLength = 0;
  #leftOfRecord = 0;
  readonly #message = Buffer.alloc(MESSAGE_HEADER + LONGEST_HELLO);
  #messageLength = 0;

  /** Adds data. A result other than incomplete is final. */
  take(data: Buffer): Hello {
    for (let at = 0; at < data.length; ) {
      if (this.#leftOfRecord === 0) {
        if (!this.#takeOfHeader(data[at]!)) return NOT_TLS;
        at += 1;
        continue;
      }
      const length = Math.min(this.#leftOfRecord, this.#wanted - this.#messageLength, data.length - at);
      data.copy(this.#message, this.#messageLength, at, at + length);
      this.#messageLength += length;
      this.#leftOfRecord -= length;
      at += length;
      if (!this.#mayBeHello) return NOT_TLS;
      if (this.#messageLength === this.#wanted) return this.#read();
    }
    return INCOMPLETE;
  }

  /** Returns false if it is not a handshake. */
  #takeOfHeader(byte: number): boolean {
    this.#header[this.#headerLength] = byte;
    this.#headerLength += 1;
    if (this.#headerLength === 1) return byte === HANDSHAKE_RECORD;
    if (this.#headerLength === 2) return byte === 3;
    if (this.#headerLength < RECORD_HEADER) return true;
    this.#headerLength = 0;
    this.#leftOfRecord = this.#header.readUInt16BE(3);
    return this.#leftOfRecord > 0 && this.#leftOfRecord <= LONGEST_RECORD;
  }

  /** The length of the message, or of the part that contains its length. */
  get #wanted(): number {
    return this.#messageLength < MESSAGE_HEADER ? MESSAGE_HEADER : MESSAGE_HEADER + this.#bodyLength;
  }

  get #bodyLength(): number {
    return this.#message.readUIntBE(1, 3);
  }

  get #mayBeHello(): boolean {
    if (this.#message[0] !== CLIENT_HELLO) return false;
    return this.#messageLength < MESSAGE_HEADER || this.#bodyLength <= LONGEST_HELLO;
  }

  #read(): Hello {
    try {
      return { kind: 'hello', ...readExtensions(this.#message.subarray(MESSAGE_HEADER, this.#wanted)) };
    } catch {
      return NOT_TLS;
    }
  }
}

/** Reads consecutive fields; throws beyond the end. */
class Fields {
  #at = 0;

  constructor(private readonly data: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at === this.data.length;
  }

  number(bytes: 1 | 2): number {
    const value = this.data.readUIntBE(this.#at, bytes);
    this.#at += bytes;
    return value;
  }

  take(length: number): Buffer {
    if (this.#at + length > this.data.length) throw new RangeError('cut off');
    this.#at += length;
    return this.data.subarray(this.#at - length, this.#at);
  }

  /** Reads a field that is preceded by its length. */
  sized(bytes: 1 | 2): Buffer {
    return this.take(this.number(bytes));
  }
}

function readExtensions(body: Buffer): { serverName: string | null; hidesName: boolean } {
  const fields = new Fields(body);
  fields.take(2 + 32); // version and random
  fields.sized(1); // session
  fields.sized(2); // ciphers
  fields.sized(1); // compressions
  const found = { serverName: null as string | null, hidesName: false };
  if (fields.isAtEnd) return found;
  const extensions = new Fields(fields.sized(2));
  if (!fields.isAtEnd) throw new RangeError('more than a hello');
  const seen = new Set<number>();
  while (!extensions.isAtEnd) {
    const type = extensions.number(2);
    const content = extensions.sized(2);
    // Two parsers could disagree on which of them counts.
    if (seen.has(type)) throw new RangeError('an extension twice');
    seen.add(type);
    if (type === SERVER_NAME) found.serverName = readServerName(content);
    if (type === ENCRYPTED_HELLO) found.hidesName = true;
  }
  return found;
}

function readServerName(content: Buffer): string {
  const list = new Fields(content);
  const names = new Fields(list.sized(2));
  const type = names.number(1);
  const name = names.sized(2).toString('latin1');
  if (type !== HOST_NAME || !names.isAtEnd || !list.isAtEnd) throw new RangeError('not one name');
  return name;
}
