import type { Tier } from '../../src/contract/outcome.js';

/** Why a snippet does not do in the sandbox what it does in plain Python. docs/compatibility.md has the same table. */
export interface Difference {
  snippet: string;
  /** Where it differs; everywhere if not given. */
  tiers?: readonly Tier[];
  /** Minor versions of Python 3 on which it differs; all if not given. */
  python?: readonly number[];
  reason: string;
}

export const DIFFERENCES: readonly Difference[] = [];

/** Faults that are still to be fixed: whoever fixes one removes its snippets here. */
export const PENDING: ReadonlySet<string> = new Set([
  'files/dev_files',
  'files/glob_patterns',
  'files/is_a_directory',
  'files/locking',
  'files/own_source',
  'files/permissions',
  'files/script_folder_listing',
  'files/sendfile_and_copy',
  'files/shutil_operations',
  'files/times',
  'files/walk_tree',
  'formatting/encodings',
  'formatting/locale_currency',
  'stdin/universal_newlines',
  'streams/order_without_flush',
  'streams/properties',
  'streams/reconfigure',
  'streams/repr_of_streams',
  'streams/rewrap',
  'streams/seek_and_tell',
  'streams/surrogate_error',
  'streams/uncaught_encode_error',
]);

/** The entry for a snippet in this place. */
export const differenceOf = (snippet: string, tier: Tier, minor: number): Difference | undefined =>
  DIFFERENCES.find(
    (one) =>
      one.snippet === snippet &&
      (one.tiers ?? [tier]).includes(tier) &&
      (one.python ?? [minor]).includes(minor),
  );
