/** What the first bytes of a connection say, as far as they are there. */
export type Hello =
  | { kind: 'incomplete' }
  | { kind: 'not-tls' }
  /** null: it names no server. */
  | { kind: 'hello'; serverName: string | null; hidesName: boolean };

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const LONGEST_RECORD = 16_384;
/** A real one has two kilobytes at most, those with keys for quantum computers included. */
const LONGEST_HELLO = 32_768;
const SERVER_NAME = 0;
const ENCRYPTED_HELLO = 0xfe0d;
const HOST_NAME = 0;

/** Reads the ClientHello that a TLS connection begins with; it may be cut into records and these into segments, anywhere. */
export function readHello(data: Buffer): Hello {
  const message = collectRecords(data);
  if (message === null) return { kind: 'not-tls' };
  if (message.length < 4) return { kind: 'incomplete' };
  const length = message.readUIntBE(1, 3);
  if (message[0] !== CLIENT_HELLO || length > LONGEST_HELLO) return { kind: 'not-tls' };
  if (message.length < 4 + length) return { kind: 'incomplete' };
  try {
    return { kind: 'hello', ...readExtensions(message.subarray(4, 4 + length)) };
  } catch {
    return { kind: 'not-tls' };
  }
}

/** The handshake bytes of the records so far; null where these are no handshake. */
function collectRecords(data: Buffer): Buffer | null {
  const parts: Buffer[] = [];
  for (let at = 0; at < data.length; ) {
    const [type, major] = [data[at], data[at + 1]];
    if (type !== HANDSHAKE_RECORD || (major !== undefined && major !== 3)) return null;
    if (data.length < at + 5) break;
    const length = data.readUInt16BE(at + 3);
    if (length === 0 || length > LONGEST_RECORD) return null;
    parts.push(data.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return Buffer.concat(parts);
}

/** Takes fields one after the other; beyond the end it throws. */
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

  /** A field whose length stands before it. */
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
    // Two readers could disagree on which of them counts.
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
