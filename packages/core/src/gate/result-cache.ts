import { randomUUID } from 'node:crypto';
import { sha256 } from '../base/sha256.js';
import type { Outcome } from '../contract/outcome.js';
import type { Admitted } from './gate.js';

interface Kept {
  /** Stored as text: callers cannot modify it, and its size is known. */
  json: string;
  bytes: number;
  at: number;
  until: number;
}

/** Caches outcomes by code and input, in memory, with least-recently-used eviction. */
export class ResultCache {
  readonly #maxBytes: number;
  // Ordered by last use.
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

  /**
   * Returns a key of everything that determines an outcome. The identity of an environment is its lock and its
   * interpreter.
   */
  keyOf({ job, profile, dataFingerprint }: Admitted, environmentIdentity: string): string {
    const {
      code,
      filename,
      package: within,
      argv,
      stdin,
      files,
      env,
      variables,
      limits,
      call,
      hasValue,
    } = job;
    const run = { code, filename, within, argv, stdin, files, env, variables, limits, call, hasValue };
    // The order of keys matters, because code can see it: {a, b} and {b, a} print differently.
    const text = JSON.stringify({ run, profile, dataFingerprint, environmentIdentity });
    return sha256(text);
  }

  /** Returns the outcome with its own run id and the id of the original run. */
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

  /** Caches successful outcomes only. */
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
