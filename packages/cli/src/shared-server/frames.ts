/** Frames between a command and the server that runs it: four bytes of length, one of kind, then the payload. */
const HEAD = 5;

const KINDS = {
  // of the command
  ask: 'A',
  go: 'G',
  input: 'I',
  inputEnd: 'E',
  cancel: 'C',
  unread: 'U',
  // of the server
  no: 'N',
  yes: 'Y',
  stdout: 'o',
  stderr: 'e',
  want: 'W',
  status: 'S',
} as const;
export type FrameKind = keyof typeof KINDS;

const BY_BYTE = new Map(Object.entries(KINDS).map(([kind, letter]) => [letter.charCodeAt(0), kind]));

export function packFrame(kind: FrameKind, payload: string | Uint8Array = ''): Buffer {
  const body = Buffer.from(payload as string);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32BE(body.length);
  head.write(KINDS[kind], 4);
  return Buffer.concat([head, body]);
}

/** Returns a function that takes chunks and calls back with whole frames. It throws for what is no frame, or too long. */
export function frameReader(
  longest: number,
  onFrame: (kind: FrameKind, payload: Buffer) => void,
): (chunk: Buffer) => void {
  let pending: Buffer[] = [];
  let size = 0;
  let needed = HEAD;
  return (chunk) => {
    pending.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    let data = Buffer.concat(pending);
    needed = HEAD;
    while (data.length >= HEAD) {
      const length = data.readUInt32BE();
      const kind = BY_BYTE.get(data[4]!);
      if (kind === undefined || length > longest) throw new Error('not a frame');
      needed = HEAD + length;
      if (data.length < needed) break;
      onFrame(kind as FrameKind, data.subarray(HEAD, needed));
      data = data.subarray(needed);
      needed = HEAD;
    }
    pending = [data];
    size = data.length;
  };
}
