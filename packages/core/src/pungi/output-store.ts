import { type Caller, ownerOf } from '../contract/caller.js';
import type { Outcome } from '../contract/outcome.js';

export const OUTPUT_PARTS = ['stdout', 'stderr', 'value', 'traceback'] as const;
export type OutputPart = (typeof OUTPUT_PARTS)[number];
export type KeptOutput = Readonly<Record<OutputPart, string>>;

interface Kept {
  owner: string;
  output: KeptOutput;
  bytes: number;
  until: number;
}

/** The bytes of an entry besides its texts, so that many small ones are counted, too. */
const ENTRY_BYTES = 1024;

/**
 * Keeps outputs that were too long for their reply, in memory, by run id and owner. When it is full, the owner that has the
 * most gives way with its oldest output, so that nobody can push out what others have.
 */
export class OutputStore {
  readonly #maxBytes: number;
  readonly #ttlMs: number;
  // Ordered by age.
  readonly #kept = new Map<string, Kept>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor({ outputStoreMb, outputStoreSeconds }: { outputStoreMb: number; outputStoreSeconds: number }) {
    this.#maxBytes = outputStoreMb * 1024 * 1024;
    this.#ttlMs = outputStoreSeconds * 1000;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Returns whether there was room for it. */
  keep(caller: Caller, outcome: Outcome, now = Date.now()): boolean {
    this.#dropExpired(now);
    const output = outputOf(outcome);
    // A character takes up to two bytes of memory.
    const bytes = OUTPUT_PARTS.reduce((sum, part) => sum + 2 * output[part].length, ENTRY_BYTES);
    if (bytes > this.#maxBytes) return false;
    this.#drop(outcome.runId);
    const owner = ownerOf(caller);
    this.#kept.set(outcome.runId, { owner, output, bytes, until: now + this.#ttlMs });
    this.#count(owner, bytes);
    while (this.#bytes > this.#maxBytes) this.#dropOldestOf(this.#largestOwner());
    return this.#kept.has(outcome.runId);
  }

  /** Returns undefined for an output of another owner as for one that does not exist. */
  read(caller: Caller, runId: string, now = Date.now()): KeptOutput | undefined {
    this.#dropExpired(now);
    const kept = this.#kept.get(runId);
    return kept?.owner === ownerOf(caller) ? kept.output : undefined;
  }

  #dropExpired(now: number): void {
    for (const [runId, { until }] of this.#kept) {
      if (until > now) return;
      this.#drop(runId);
    }
  }

  #largestOwner(): string {
    return [...this.#bytesOf].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
  }

  #dropOldestOf(owner: string): void {
    const oldest = [...this.#kept].find(([, kept]) => kept.owner === owner);
    if (oldest !== undefined) this.#drop(oldest[0]);
  }

  #drop(runId: string): void {
    const kept = this.#kept.get(runId);
    if (kept === undefined) return;
    this.#kept.delete(runId);
    this.#count(kept.owner, -kept.bytes);
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const sum = (this.#bytesOf.get(owner) ?? 0) + bytes;
    if (sum === 0) this.#bytesOf.delete(owner);
    else this.#bytesOf.set(owner, sum);
  }
}

const outputOf = ({ stdout, stderr, value, verdict }: Outcome): KeptOutput => ({
  stdout: stdout.text,
  stderr: stderr.text,
  value: value?.repr ?? '',
  traceback: 'exception' in verdict ? (verdict.exception?.traceback ?? '') : '',
});
