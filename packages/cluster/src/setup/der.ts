/** Writes the few parts of DER (ITU-T X.690) that a certificate has. */
export type Der = Buffer;

const TAGS = {
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  objectId: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

function element(tag: number, ...contents: readonly Uint8Array[]): Der {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes]);
}

export const sequence = (...parts: readonly Der[]): Der => element(TAGS.sequence, ...parts);
export const set = (...parts: readonly Der[]): Der => element(TAGS.set, ...parts);
export const octets = (content: Uint8Array): Der => element(TAGS.octets, content);
export const utf8 = (text: string): Der => element(TAGS.utf8, Buffer.from(text));
export const TRUE: Der = Buffer.from([0x01, 0x01, 0xff]);

/** A whole number without a sign, as its bytes. */
export function integer(bytes: Uint8Array): Der {
  const isNegative = (bytes[0] ?? 0) >= 0x80;
  return element(TAGS.integer, Buffer.from(isNegative ? [0] : []), bytes);
}

/** Bits that end with the last byte, or `unused` bits before. */
export const bits = (content: Uint8Array, unused = 0): Der =>
  element(TAGS.bits, Buffer.from([unused]), content);

/** An element with a tag of its context. `isPlain`: it holds bytes, not other elements. */
export const tagged = (tag: number, content: Uint8Array, isPlain = false): Der =>
  element((isPlain ? 0x80 : 0xa0) | tag, content);

/** An identifier such as 2.5.29.17. */
export function objectId(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(TAGS.objectId, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
    digits.unshift(0x80 | (left % 128));
  return digits;
}

/** Years from 2050 on have a type of their own. */
export function time(at: Date): Der {
  const text = `${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`;
  return at.getUTCFullYear() < 2050
    ? element(TAGS.utcTime, Buffer.from(text.slice(2)))
    : element(TAGS.generalizedTime, Buffer.from(text));
}
