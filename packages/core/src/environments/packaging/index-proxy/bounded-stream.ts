import { type Readable, Transform } from 'node:stream';
import { IndexTrouble } from './fetch.js';

/** Passes this many bytes, and fails at the next one. */
export function boundBytes(most: number): Transform {
  let seen = 0;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      seen += chunk.length;
      if (seen > most) done(new IndexTrouble(502, 'The index sent more than a file or page may have.'));
      else done(null, chunk);
    },
  });
}

export async function readText(stream: Readable, most: number): Promise<string> {
  const chunks: Buffer[] = [];
  let seen = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    seen += chunk.length;
    if (seen > most) throw new IndexTrouble(502, 'The index sent more than a file or page may have.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
