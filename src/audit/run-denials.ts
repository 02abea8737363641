/** So that a run that asks for the same again and again does not fill the disk. */
const MOST_OF_ONE_RUN = 100;

/** What runs that still go on were denied, each thing once. */
export class RunDenials {
  readonly #byRun = new Map<string, Map<string, Promise<void>>>();

  /** Resolves when this denial, or the one that it repeats, is recorded. */
  add(runId: string, what: string, record: () => Promise<void>): Promise<void> {
    const known = this.#byRun.get(runId) ?? new Map<string, Promise<void>>();
    this.#byRun.set(runId, known);
    const earlier = known.get(what);
    if (earlier !== undefined) return earlier;
    if (known.size >= MOST_OF_ONE_RUN) return Promise.resolve();
    const recorded = record();
    recorded.catch(() => {}); // told by `settled`, too
    known.set(what, recorded);
    return recorded;
  }

  /** The run has ended: resolves when all that it was denied is recorded, rejects where something could not be. */
  async settled(runId: string): Promise<void> {
    const known = this.#byRun.get(runId);
    if (known === undefined) return;
    this.#byRun.delete(runId);
    await Promise.all(known.values());
  }
}
