import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FrameKind, FrameParser, KINDS, packFrame, packFrames } from '../../src/runtime/frames.js';

const kinds = Object.keys(KINDS) as FrameKind[];
const frame = fc.tuple(
  fc.constantFrom(...kinds),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

function parse(chunks: Buffer[]): [FrameKind, string][] {
  const found: [FrameKind, string][] = [];
  const parser = new FrameParser((kind, payload) => found.push([kind, payload.toString('hex')]));
  for (const chunk of chunks) parser.feed(chunk);
  return found;
}

test('frames come out as they went in, however the stream was cut', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 90 })),
      (frames, sizes) => {
        const stream = Buffer.concat(frames.map(([kind, payload]) => packFrame(kind, payload)));
        const chunks: Buffer[] = [];
        for (let at = 0, turn = 0; at < stream.length; turn += 1) {
          const size = sizes[turn % Math.max(1, sizes.length)] ?? stream.length;
          chunks.push(stream.subarray(at, at + size));
          at += size;
        }
        expect(parse(chunks)).toEqual(frames.map(([kind, payload]) => [kind, payload.toString('hex')]));
      },
    ),
  );
});

test('text goes as UTF-8', () => {
  const packed = packFrame('report', 'ż🐍');
  expect(packed.readUInt32BE(0)).toBe(6);
  expect(parse([packed])).toEqual([['report', Buffer.from('ż🐍').toString('hex')]]);
});

test('half of a pair of surrogates goes as a replacement character, and the length is that of its bytes', () => {
  expect(parse([packFrame('report', 'a\ud83db')])).toEqual([
    ['report', Buffer.from('a\ufffdb').toString('hex')],
  ]);
});

test('frames that go together are the same bytes as one after the other', () => {
  const together = packFrames([
    ['limits', 'ż🐍'],
    ['job', Buffer.from([0, 255])],
    ['cancel', ''],
  ]);
  const frames = [packFrame('limits', 'ż🐍'), packFrame('job', Buffer.from([0, 255])), packFrame('cancel')];
  expect(together).toEqual(Buffer.concat(frames));
});

test('an unfinished frame is waited for', () => {
  const packed = packFrame('stdout', 'x'.repeat(100));
  expect(parse([packed.subarray(0, 104)])).toEqual([]);
  expect(parse([packed.subarray(0, 3)])).toEqual([]);
  expect(parse([])).toEqual([]);
});

test('an empty frame is one', () => {
  expect(parse([packFrame('cancel')])).toEqual([['cancel', '']]);
});

test('a kind that does not exist ends the conversation', () => {
  const packed = packFrame('stdout', 'x');
  packed.writeUInt8('?'.charCodeAt(0), 4);
  expect(() => parse([packed])).toThrow('not a frame');
});

test('a length beyond anything that is sent ends the conversation before it is waited for', () => {
  const head = Buffer.from([0xff, 0xff, 0xff, 0xff, KINDS.stdout.charCodeAt(0)]);
  expect(() => parse([head])).toThrow('not a frame');
});

test('a large frame in many pieces is put together in good time', () => {
  const size = 4 * 1024 * 1024;
  const packed = packFrame('report', Buffer.alloc(size, 7));
  const chunks: Buffer[] = [];
  for (let at = 0; at < packed.length; at += 1000) chunks.push(packed.subarray(at, at + 1000));
  let received = 0;
  const parser = new FrameParser((_, payload) => {
    received = payload.length;
  });
  for (const chunk of chunks) parser.feed(chunk);
  expect(received).toBe(size);
});

test('a frame of megabytes in pieces of a few bytes, and thousands of tiny frames in one piece, are each handled once', () => {
  const large = packFrame('stdout', Buffer.alloc(4 * 1024 * 1024, 'x'));
  const pieces = Array.from({ length: Math.ceil(large.length / 7) }, (_, n) =>
    large.subarray(n * 7, n * 7 + 7),
  );
  const tiny = Buffer.concat(Array.from({ length: 200_000 }, () => packFrame('stderr', 'y')));
  const sizes = new Map<string, number>();
  const parser = new FrameParser((kind, payload) => sizes.set(kind, (sizes.get(kind) ?? 0) + payload.length));
  for (const piece of [...pieces, tiny]) parser.feed(piece);
  expect([...sizes]).toEqual([
    ['stdout', 4 * 1024 * 1024],
    ['stderr', 200_000],
  ]);
});
