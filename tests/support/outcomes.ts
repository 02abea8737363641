import type { Outcome, Verdict } from '../../packages/core/src/contract/outcome.js';

const none = { text: '', bytes: 0, truncated: false };

export interface Told {
  verdict?: Verdict;
  wallMs?: number;
  waitMs?: number;
  peakMemoryMb?: number;
  isCached?: boolean;
}

/** An outcome of which only what matters here is said. What was refused before it ran has no tier. */
export function outcomeOf({
  verdict = { kind: 'ok' },
  wallMs = 1,
  waitMs = 0,
  peakMemoryMb = 10,
  isCached = false,
}: Told = {}): Outcome {
  const isRefused = ['busy', 'denied', 'invalid', 'no-environment', 'internal'].includes(verdict.kind);
  return {
    runId: 'run',
    verdict,
    stdout: none,
    stderr: none,
    value: null,
    usage: { wallMs, cpuMs: 0, peakMemoryMb, waitMs, installMs: 0 },
    codeSha256: '',
    isolation: { tier: isRefused ? null : 'namespace', features: [] },
    environment: 'default',
    profile: 'default',
    cached: isCached ? { runId: 'before', at: new Date(0).toISOString() } : null,
    disclosure: null,
  };
}

export const INTERNAL: Verdict = { kind: 'internal', code: 'INTERNAL_ERROR', message: 'No.' };
