export interface ImageSize {
  width: number;
  height: number;
}

/** Reads the size of a picture from its header. Undefined if the bytes are not a whole picture of this type. */
export function imageSize(mediaType: string, data: Buffer): ImageSize | undefined {
  const size = READERS[mediaType]?.(data);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

const READERS: Record<string, (data: Buffer) => ImageSize | undefined> = {
  'image/png': sizeOfPng,
  'image/jpeg': sizeOfJpeg,
  'image/gif': sizeOfGif,
  'image/webp': sizeOfWebp,
};

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** Follows the chunks to the last one: a client that decodes half a picture reports an error for the whole reply. */
function sizeOfPng(data: Buffer): ImageSize | undefined {
  if (data.length < 33 || !data.subarray(0, 8).equals(PNG) || data.toString('latin1', 12, 16) !== 'IHDR')
    return undefined;
  for (let at = 8; at + 12 <= data.length; at += 12 + data.readUInt32BE(at)) {
    if (data.toString('latin1', at + 4, at + 8) === 'IEND')
      return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  }
  return undefined;
}

/** The markers that begin a frame with its size. */
const isFrame = (marker: number) =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

function sizeOfJpeg(data: Buffer): ImageSize | undefined {
  if (data.length < 4 || data.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= data.length && data[at] === 0xff; at += 2 + data.readUInt16BE(at + 2)) {
    if (isFrame(data[at + 1]!))
      return { width: data.readUInt16BE(at + 7), height: data.readUInt16BE(at + 5) };
  }
  return undefined;
}

function sizeOfGif(data: Buffer): ImageSize | undefined {
  if (data.length < 13 || !/^GIF8[79]a$/.test(data.toString('latin1', 0, 6))) return undefined;
  return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
}

function sizeOfWebp(data: Buffer): ImageSize | undefined {
  if (
    data.length < 30 ||
    data.toString('latin1', 0, 4) !== 'RIFF' ||
    data.toString('latin1', 8, 12) !== 'WEBP'
  )
    return undefined;
  const kind = data.toString('latin1', 12, 16);
  if (kind === 'VP8X') return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8 ')
    return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
  if (kind !== 'VP8L') return undefined;
  const bits = data.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
