import { randomUUID } from 'node:crypto';
import { sha256 } from '../base/sha256.js';
import type { Outcome } from '../contract/outcome.js';
import type { Admitted } from './gate.js';

interface Kept {
  /** As text: what was handed out once cannot change it, and its size is known. */
  json: string;
  bytes: number;
  at: number;
  until: number;
}

/** Outcomes that stand for another run of the same code with the same input: in memory, the least used leave first. */
export class ResultCache {
  readonly #maxBytes: number;
  // In the order of their last use.
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  constructor(maxMb: number) {
    this.#maxBytes = maxMb * 1024 * 1024;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Everything that a run's outcome follows from. The identity of an environment is its lock and its interpreter. */
  keyOf({ job, profile, dataFingerprint }: Admitted, environmentIdentity: string): string {
    const { code, filename, argv, stdin, files, env, variables, limits, call } = job;
    const run = { code, filename, argv, stdin, files, env, variables, limits, call };
    // In the order of their keys, which code can see: {a, b} and {b, a} print differently.
    const text = JSON.stringify({ run, profile, dataFingerprint, environmentIdentity });
    return sha256(text);
  }

  /** The outcome as an answer of its own, which says whose it is. */
  get(key: string, now = Date.now()): Outcome | undefined {
    const began = performance.now();
    const kept = this.#kept.get(key);
    if (kept === undefined) return undefined;
    this.#drop(key, kept);
    if (now >= kept.until || now < kept.at) return undefined;
    this.#keep(key, kept);
    const outcome = JSON.parse(kept.json) as Outcome;
    return {
      ...outcome,
      runId: randomUUID(),
      cached: { runId: outcome.runId, at: new Date(kept.at).toISOString() },
      usage: { wallMs: performance.now() - began, cpuMs: 0, peakMemoryMb: 0, waitMs: 0, installMs: 0 },
    };
  }

  /** Keeps what ended well; of everything else the next run may make something better. */
  set(key: string, outcome: Outcome, ttlSeconds: number, now = Date.now()): void {
    if (ttlSeconds <= 0 || outcome.verdict.kind !== 'ok' || outcome.cached !== null) return;
    const json = JSON.stringify(outcome);
    const bytes = Buffer.byteLength(json) + key.length;
    const earlier = this.#kept.get(key);
    if (earlier !== undefined) this.#drop(key, earlier);
    if (bytes > this.#maxBytes) return;
    this.#keep(key, { json, bytes, at: now, until: now + ttlSeconds * 1000 });
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#drop(oldest, kept);
    }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept);
    this.#bytes += kept.bytes;
  }

  #drop(key: string, kept: Kept): void {
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
  }
}
