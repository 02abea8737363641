/** What a cluster stores in JetStream. Workers write none of it: front ends record what workers return. */
export const STORES = {
  /** Names, metadata and locks of environments. */
  environments: 'kv',
  /** Who changes an environment now. */
  leases: 'kv',
  /** Profiles, signed by the owner. */
  profiles: 'kv',
  /** Starts and outcomes of background runs. */
  outcomes: 'kv',
  /** Inputs too large for a message. */
  inputs: 'objects',
  /** Large outcomes and files of background runs, and their large requests. */
  artifacts: 'objects',
  /** Packages for workers that reach no package index, named by their hash. */
  wheels: 'objects',
  /** Background runs that have not ended. */
  background: 'stream',
  /** The heads of audit trails. */
  checkpoints: 'stream',
} as const;
export type Store = keyof typeof STORES;

/** The name of the bucket or stream. */
export const storeName = (cluster: string, store: Store): string => `pungi-${cluster}-${store}`;
