import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Pungi } from '../../src/pungi.js';
import { printed } from '../engine/pungi.js';

const FOLDER = new URL('./workloads/', import.meta.url);
/** Several interpreters and compilers at a time. */
const LIMITS = {
  timeoutMs: 100_000,
  cpuMs: 100_000,
  processes: 128,
  openFiles: 512,
  memoryMb: 2048,
  diskMb: 256,
};
export const ROOM = {
  MAX_MEMORY_MB: '2048',
  EXECUTION_TIMEOUT_MS: '100000',
  MAX_CPU_MS: '100000',
  MAX_PROCESSES: '128',
  MAX_OPEN_FILES: '512',
  MAX_DISK_MB: '256',
};
export const WORKLOAD_MS = 120_000;

/** What ordinary scripts do, as files that print "ok": scripts/trace_system_calls.py found the allowed calls with them. */
export const workloadsOf = (kind: 'standard' | 'packages'): string[] =>
  readdirSync(new URL(kind, FOLDER)).map((name) => `${kind}/${name}`);

export async function expectWorks(pungi: Pungi, workload: string, more: { venvName?: string } = {}) {
  const code = readFileSync(new URL(workload, FOLDER), 'utf8');
  expect(await printed(pungi, { code, limits: LIMITS, ...more })).toBe('ok\n');
}
