import * as crypto from 'node:crypto';

/** In hexadecimal. The one-shot function is twice as fast for short texts, where this Node has it. */
export const sha256: (data: string | Buffer) => string =
  typeof crypto.hash === 'function'
    ? (data) => crypto.hash('sha256', data)
    : (data) => crypto.createHash('sha256').update(data).digest('hex');
