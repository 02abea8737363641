import type { ArtifactContent } from '@pungi/core/contract';
import { filesOfRun } from '../protocol/background.js';
import type { KeptOutcomes } from './kept-outcomes.js';
import { isOpen, type RunStates, type SeenState } from './run-states.js';

/** The files of background runs in the cluster. One caller has half of the room at most; the oldest files make room. */
export class RunFiles {
  constructor(
    private readonly states: RunStates,
    private readonly kept: KeptOutcomes,
    private readonly totalBytes: number,
  ) {}

  /** Keeps the files of a run for its owner, at every front end. Returns their bytes, or undefined if there is no room. */
  async keep(owner: string, runId: string, files: readonly ArtifactContent[]): Promise<number | undefined> {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (!(await this.#makeRoom(owner, bytes))) return undefined;
    await this.kept.keepFiles(owner, runId, files);
    return bytes;
  }

  async #makeRoom(owner: string, bytes: number): Promise<boolean> {
    const share = this.totalBytes / 2;
    if (bytes > share) return false;
    while (bytesOf(this.states.all(owner)) + bytes > share)
      if (!(await this.#removeOldest(this.states.all(owner)))) return false;
    while (bytesOf(this.states.all()) + bytes > this.totalBytes)
      if (!(await this.#removeOldest(largestOf(this.states.all())))) return false;
    return true;
  }

  /** Returns whether there were any that could be removed. */
  async #removeOldest(of: readonly SeenState[]): Promise<boolean> {
    const oldest = of.find((seen) => !isOpen(seen) && bytesOf([seen]) > 0);
    if (oldest === undefined) return false;
    await this.kept.forgetFiles(filesOfRun(oldest.key, oldest.state.runId));
    // Whoever has changed it meanwhile is asked again.
    if ((await this.states.change(oldest, { fileBytes: 0 })) === undefined) await this.states.get(oldest.key);
    return true;
  }
}

const bytesOf = (all: readonly SeenState[]): number =>
  all.reduce((sum, { state }) => sum + (state.fileBytes ?? 0), 0);

/** Those of the owner who has the most. */
function largestOf(all: readonly SeenState[]): SeenState[] {
  const byOwner = new Map<string, SeenState[]>();
  for (const seen of all) {
    const owner = seen.key.split('.')[1]!;
    byOwner.set(owner, [...(byOwner.get(owner) ?? []), seen]);
  }
  return [...byOwner.values()].reduce((most, own) => (bytesOf(own) > bytesOf(most) ? own : most), []);
}
