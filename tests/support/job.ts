import { DEFAULT_LIMITS } from '../../packages/core/src/contract/limits.js';
import type { Job } from '../../packages/core/src/runtime/job.js';

/** Code as a job for the engine, which is given nothing else. */
export const jobOf = (code: string, more: Partial<Job> = {}): Job => ({
  code,
  filename: 'main.py',
  argv: [],
  stdin: '',
  files: [],
  env: {},
  limits: { ...DEFAULT_LIMITS, timeoutMs: 20_000 },
  variables: {},
  ...more,
});
