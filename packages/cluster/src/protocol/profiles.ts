import { ProfileDefinition } from '@pungi/core/contract';
import { z } from 'zod';
import { pack, parse, version } from './messages.js';
import type { Signer, Verifier } from './signing.js';
import { storeName } from './stores.js';

/** The bucket of a cluster's profiles, which only its owner writes, and its one key. */
export const profileBucketOf = (cluster: string): string => storeName(cluster, 'profiles');
export const PROFILE_KEY = 'set';

/** Less than a message may have. */
export const MOST_SET_BYTES = 512 * 1024;

/**
 * All shared profiles, as one value that the owner signs as a whole: no profile of one set can be combined with those of another,
 * under its own name or a different one, and one that was removed is not in it.
 */
const ProfileSet = z.object({
  v: version,
  /** Grows with every set. */
  version: z.number().int().positive(),
  profiles: z.record(z.string().max(64), ProfileDefinition),
});
export type ProfileSet = z.infer<typeof ProfileSet>;

/** What is signed names the cluster. */
const subjectOf = (cluster: string): string => `${profileBucketOf(cluster)}.${PROFILE_KEY}`;

export const signSet = (signer: Signer, cluster: string, set: ProfileSet): Buffer =>
  signer.sign(subjectOf(cluster), pack(set));

/** Returns why a value cannot be used, if not the set. */
export function openSet(verifier: Verifier, cluster: string, value: Buffer): ProfileSet | string {
  if (value.length > 2 * MOST_SET_BYTES) return 'it is too large';
  const content = verifier.open(subjectOf(cluster), value);
  if (content === undefined) return 'it is not signed with the key of the owner';
  return parse(ProfileSet, content) ?? 'its profiles cannot be read: another version may have written them';
}
