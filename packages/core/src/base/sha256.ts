import * as crypto from 'node:crypto';

/** Returns the hash in hexadecimal. The one-shot function of newer Nodes is twice as fast for short texts. */
export const sha256: (data: string | Buffer) => string =
  typeof crypto.hash === 'function'
    ? (data) => crypto.hash('sha256', data)
    : (data) => crypto.createHash('sha256').update(data).digest('hex');
