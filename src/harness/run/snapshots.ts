import type { Expected } from '../../contract/spec.js';
import type { Failure } from '../../contract/test-report.js';
import type { Answer } from '../judge/answer.js';
import { snapshotName, snapshotOf } from '../judge/snapshot.js';
import { SnapshotStore } from '../judge/snapshot-store.js';

/** `create`: what is new is kept; `update`: what is there now is kept; `check`: nothing is. */
export type SnapshotMode = 'create' | 'update' | 'check';

/** The snapshots of a specification while its tests run. */
export class Snapshots {
  readonly #file: string;
  readonly #mode: SnapshotMode;
  #opened: SnapshotStore | undefined;

  constructor(specification: string, mode: SnapshotMode) {
    this.#file = specification;
    this.#mode = mode;
  }

  /** What the answer is compared with. */
  find(expected: Expected, id: string): { name: string; kept: unknown } | undefined {
    const name = snapshotName(expected.snapshot, id);
    const kept = name === undefined || this.#mode === 'update' ? undefined : this.#store.get(name);
    return name === undefined || kept === undefined ? undefined : { name, kept: kept.value };
  }

  /** After everything else was as it should be. */
  keep(expected: Expected, id: string, answer: Answer): Failure[] {
    const name = snapshotName(expected.snapshot, id);
    if (name === undefined) return [];
    if (this.#mode !== 'update' && this.#store.get(name) !== undefined) return [];
    if (this.#mode === 'check') {
      const message = `There is no snapshot "${name}" to compare with. Run the test where snapshots may be written.`;
      return [{ kind: 'snapshot', message }];
    }
    this.#store.put(name, snapshotOf(answer, expected.snapshot_ignore));
    return [];
  }

  /** `isWhole`: every test was run, so what nobody asked for can go. */
  save({ isWhole }: { isWhole: boolean }): void {
    if (this.#mode === 'update' && isWhole) this.#opened?.removeUnused();
    this.#opened?.save();
  }

  get #store(): SnapshotStore {
    this.#opened ??= new SnapshotStore(this.#file);
    return this.#opened;
  }
}
