import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputBuffer } from '../../src/engine/output.js';

/** The same bytes in other pieces. */
function inPieces(data: Buffer, cuts: number[]): Buffer[] {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (data.length + 1)), data.length])].sort(
    (a, b) => a - b,
  );
  return at.slice(1).map((end, index) => data.subarray(at[index], end));
}

function feed(limit: number, pieces: Buffer[]) {
  const lines: string[] = [];
  const buffer = new OutputBuffer(limit, (line) => lines.push(line));
  for (const piece of pieces) buffer.write(piece);
  return { output: buffer.finish(), lines };
}

const someBytes = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.string({ unit: 'grapheme', maxLength: 200 }).map((text) => Buffer.from(text)),
  fc
    .array(fc.constantFrom('a', '\n', 'ż', '🐍', '\r\n', '\0'), { maxLength: 200 })
    .map((parts) => Buffer.from(parts.join(''))),
);
const cuts = fc.array(fc.nat(1000), { maxLength: 20 });

describe('the output of a run', () => {
  test('is the same however it was cut into pieces on its way', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 400 }), someBytes, cuts, (limit, data, places) => {
        expect(feed(limit, inPieces(data, places))).toEqual(feed(limit, [data]));
      }),
    );
  });

  test('is whole where it fits', () => {
    fc.assert(
      fc.property(someBytes, cuts, (data, places) => {
        const { output } = feed(2 * data.length + 2, inPieces(data, places));
        expect(output).toEqual({ text: data.toString('utf8'), bytes: data.length, truncated: false });
      }),
    );
  });

  test('that fits exactly is not cut', () => {
    const data = Buffer.from('x'.repeat(1000));
    expect(feed(1000, [data]).output).toEqual({ text: data.toString(), bytes: 1000, truncated: false });
    expect(feed(1001, [data]).output.truncated).toBe(false);
    expect(feed(998, [data]).output.truncated).toBe(true);
  });

  test('is its own head and tail around a marker that says how much is missing', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 500 }),
        cuts,
        (limit, size, places) => {
          const text = Array.from({ length: size }, (_, n) => String.fromCharCode(97 + (n % 26))).join('');
          const { output } = feed(limit, inPieces(Buffer.from(text), places));
          expect(output.bytes).toBe(size);
          if (!output.truncated) {
            expect(output.text).toBe(text);
            return;
          }
          const match = /^([a-z]*)\n… (\d+) bytes left out …\n([a-z]*)$/.exec(output.text);
          expect(match).not.toBeNull();
          const [, head = '', left, tail = ''] = match!;
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + Number(left)).toBe(size);
          expect(head.length + tail.length).toBeLessThanOrEqual(limit);
        },
      ),
    );
  });

  test('is not cut through the middle of a character', () => {
    const text = '🐍żx€'.repeat(100);
    for (let limit = 1; limit < 60; limit += 1) {
      const { output } = feed(limit, [Buffer.from(text)]);
      expect(output.truncated).toBe(true);
      expect(output.text).not.toContain('\uFFFD');
      // What is kept is as near to the limit as whole characters allow, and the number is exact.
      const [, head = '', left, tail = ''] = /^(.*)\n… (\d+) bytes left out …\n(.*)$/.exec(output.text)!;
      const kept = Buffer.byteLength(head + tail);
      expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
      expect(kept + Number(left)).toBe(Buffer.byteLength(text));
      expect(kept).toBeLessThanOrEqual(limit);
      expect(kept).toBeGreaterThanOrEqual(limit - 1 - 2 * 3);
    }
  });

  test('that is not UTF-8 is replaced, never an error', () => {
    const { output, lines } = feed(100, [Buffer.from([0x61, 0xff, 0x0a, 0xe2, 0x82])]);
    expect(output).toMatchObject({ text: 'a\uFFFD\n\uFFFD', bytes: 5 });
    expect(lines).toEqual(['a\uFFFD', '\uFFFD']);
  });

  test('is told as lines, the last one too', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '\n', '🐍') }), cuts, (text, places) => {
        const { lines } = feed(100, inPieces(Buffer.from(text), places));
        const expected = text.split('\n');
        if (expected.at(-1) === '') expected.pop();
        expect(lines).toEqual(expected);
      }),
    );
  });

  test('as one endless line is told in parts, with nothing lost', () => {
    const data = Buffer.from('🐍x'.repeat(100_000));
    const pieces = inPieces(
      data,
      Array.from({ length: 20 }, (_, n) => n * 12_345),
    );
    const { lines } = feed(1000, pieces);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.join('')).toBe(data.toString());
  });

  // Work that grows with the square of the pieces would take hours here.
  test('in a million pieces of one byte is handled once', () => {
    const newlines = Array.from({ length: 1_000_000 }, () => Buffer.from('\n'));
    const { output, lines } = feed(256 * 1024, newlines);
    expect(lines.length).toBe(1_000_000);
    expect(output).toMatchObject({ bytes: 1_000_000, truncated: true });
  });

  test('in a million pieces without a line break is told in lines of bounded length', () => {
    const letters = Array.from({ length: 1_000_000 }, () => Buffer.from('x'));
    const { output, lines } = feed(256 * 1024, letters);
    expect(lines.join('').length).toBe(1_000_000);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(64 * 1024 + 1);
    expect(output.bytes).toBe(1_000_000);
  });

  test('keeps no piece that it does not need: of small parts of large chunks, only the parts', () => {
    const before = process.memoryUsage().arrayBuffers;
    const buffer = new OutputBuffer(1024 * 1024);
    for (let turn = 0; turn < 2000; turn += 1) buffer.write(Buffer.alloc(64 * 1024, 'x').subarray(0, 1));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(buffer.finish().bytes).toBe(2000);
  });
});
