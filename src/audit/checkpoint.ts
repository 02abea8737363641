import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

/**
 * A signed statement about the chain. "regular": the entry of this number had this hash. "cut": the entries up
 * to this one were removed on purpose, and the chain begins after it; signed apart, so that nobody can pass off
 * a regular one as a cut. `previous` is the number of the checkpoint before: none can vanish unnoticed.
 */
export interface Checkpoint {
  seq: number;
  role: 'regular' | 'cut';
  hash: string;
  time: string;
  previous: number;
  signature: string;
}

const messageOf = ({ seq, role, hash, time, previous }: Omit<Checkpoint, 'signature'>) =>
  Buffer.from(`pungi audit checkpoint 1\n${canonicalJson({ seq, role, hash, time, previous })}`);

export function signCheckpoint(checkpoint: Omit<Checkpoint, 'signature'>, key: KeyObject): Checkpoint {
  return { ...checkpoint, signature: sign(null, messageOf(checkpoint), key).toString('base64') };
}

export const isSigned = (checkpoint: Checkpoint, key: KeyObject) =>
  verify(null, messageOf(checkpoint), key, Buffer.from(checkpoint.signature, 'base64')) &&
  // Base64 has several spellings of the same bytes.
  Buffer.from(checkpoint.signature, 'base64').toString('base64') === checkpoint.signature;
