import { crc32, gzipSync } from 'node:zlib';

/** Paths in the archive and what is there. */
export type Entries = Map<string, Buffer>;

/** 1 January 1980, the first day that a zip file knows: the same content gives the same bytes. */
const ZIP_DATE = 0x21;
const REGULAR_FILE = 0o100644;
const PROGRAM = 0o100755;

/** A zip file without compression. */
export function zip(entries: Entries): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, content] of entries) {
    const name = Buffer.from(path);
    // From "version needed" to "extra length": the same bytes in the local header and in the directory.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(ZIP_DATE, 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(content.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    const mode = path.includes('.data/scripts/') ? PROGRAM : REGULAR_FILE;
    place.writeUInt32LE(mode * 2 ** 16, 6);
    place.writeUInt32LE(offset, 10);
    const madeOnUnix = Buffer.from([20, 3]);
    bodies.push(Buffer.from('PK\x03\x04'), facts, name, content);
    directory.push(Buffer.from('PK\x01\x02'), madeOnUnix, facts, place, name);
    offset += 30 + name.length + content.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.size, 4);
  end.writeUInt16LE(entries.size, 6);
  end.writeUInt32LE(index.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, index, Buffer.from('PK\x05\x06'), end]);
}

const TAR_BLOCK = 512;
/** 1 January 2020: what is unpacked may go into a zip file, in every time zone. */
const TAR_TIME = 1_577_836_800;

export function tarGz(entries: Entries): Buffer {
  const blocks = [...entries].flatMap(([path, content]) => [
    tarHeader(path, content.length),
    content,
    Buffer.alloc(-content.length & (TAR_BLOCK - 1)),
  ]);
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK)]));
}

function tarHeader(path: string, size: number): Buffer {
  const header = Buffer.alloc(TAR_BLOCK);
  const octal = (value: number, at: number, digits: number) =>
    header.write(value.toString(8).padStart(digits, '0'), at);
  header.write(path);
  octal(0o644, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(TAR_TIME, 136, 11);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  // The sum is taken as if its own field held spaces.
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header[154] = 0;
  return header;
}
