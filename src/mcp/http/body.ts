import type { IncomingMessage } from 'node:http';

/** Room for the largest request that the contract allows, and less than the transports' own limit. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

export type Body =
  | { kind: 'json'; value: unknown }
  | { kind: 'too-large' }
  | { kind: 'not-json' }
  | { kind: 'aborted' };

/** Reads a JSON body without ever holding more than the limit. */
export async function readJsonBody(req: IncomingMessage, maxBytes: number = MAX_BODY_BYTES): Promise<Body> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return { kind: 'too-large' };
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Leaving the loop must not destroy the connection: the client still gets its answer.
    for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) return { kind: 'too-large' };
      chunks.push(chunk);
    }
  } catch {
    return { kind: 'aborted' };
  }
  try {
    return { kind: 'json', value: JSON.parse(Buffer.concat(chunks).toString('utf8')) };
  } catch {
    return { kind: 'not-json' };
  }
}
