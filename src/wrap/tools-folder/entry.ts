import { join } from 'node:path';
import type { ScriptSource, WrappedScript } from './wrapped-script.js';

/** What is remembered of a place in the tools folder between two looks. */
export interface Entry extends WrappedScript {
  paths: string[];
  /** Of the files behind it, when they were read; empty: they are to be read again. */
  state: string;
}

/** Of a place that nothing is known of yet. */
export const unread = (folder: string, source: ScriptSource): Entry => ({
  ...source,
  inUse: null,
  problem: `"${source.origin}" is still being read.`,
  paths: [join(folder, source.origin)],
  state: '',
});

/** A script with a registration of its own is not offered twice. What a client registers hides nothing of its owner's. */
export function withoutClaimed(entries: readonly Entry[]): Entry[] {
  const claimed = new Set(
    entries
      .filter(({ kind, inUse }) => kind !== 'script' && inUse?.tools.wrappedBy !== 'client')
      .flatMap(({ inUse }) => (inUse === null ? [] : [inUse.path])),
  );
  return entries.filter(({ kind, inUse }) => kind !== 'script' || inUse === null || !claimed.has(inUse.path));
}
