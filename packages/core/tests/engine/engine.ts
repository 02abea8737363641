import { afterAll } from 'vitest';
import { jobOf } from '../../../../tests/support/job.js';
import { type Logger, silentLogger } from '../../src/base/logger.js';
import type { CodeSummary } from '../../src/contract/disclosure.js';
import type { Outcome } from '../../src/contract/outcome.js';
import type { ScopeRules } from '../../src/contract/profile.js';
import { type AdmittedRun, Engine, type EngineOptions } from '../../src/engine/engine.js';
import type { PoolSpec } from '../../src/engine/environment-ref.js';
import type { LocalBackend } from '../../src/engine/local-backend.js';
import type { Job } from '../../src/runtime/job.js';

const OPTIONS: EngineOptions = {
  tier: 'auto',
  allowUnsandboxed: false,
  poolSize: 1,
  preload: [],
  preloadTimeoutMs: 60_000,
  memoryMb: 512,
  diskMb: 64,
  maxActive: 4,
  maxQueued: 100,
  idleTimeoutMs: 60_000,
  environment: 'default',
  maxWarm: 8,
};

/** An engine without the doors and the gate before it. */
export const startEngine = (options: Partial<EngineOptions> = {}, logger: Logger = silentLogger): Engine =>
  new Engine({ ...OPTIONS, ...options }, logger);

/** One for the whole file, closed after its last test. */
export function sharedEngine(options: Partial<EngineOptions> = {}, logger?: Logger): Engine {
  const engine = startEngine(options, logger);
  afterAll(() => engine.close());
  return engine;
}

export async function withEngine<T>(
  options: Partial<EngineOptions>,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = startEngine(options);
  try {
    return await use(engine);
  } finally {
    await engine.close();
  }
}

/** Of an engine with fork servers. */
export const poolsOf = ({ backend }: Engine) => (backend as LocalBackend).pools;

export { jobOf };

export const rulesOf = (rules: Partial<ScopeRules> = {}): ScopeRules => ({
  profile: 'narrow',
  message: null,
  allowedImports: null,
  blockedImports: [],
  blockedBuiltins: [],
  blockedOperations: [],
  defaultImports: [],
  ...rules,
});

export const poolSpecOf = (poolSpec: Partial<PoolSpec> = {}): PoolSpec => ({
  preload: [],
  data: [],
  allowedHosts: [],
  ...poolSpec,
});

export interface Ran extends Outcome {
  /** What the code was said to do, before it ran. */
  summary: CodeSummary | null;
}

/** Runs with the rules and the pool of a profile. */
export async function runIn(
  engine: Engine,
  code: string,
  { poolSpec, profile, ref, ...more }: Partial<Job> & Omit<Partial<AdmittedRun>, 'job'> = {},
): Promise<Ran> {
  let summary: CodeSummary | null = null;
  const run = { job: jobOf(code, more), poolSpec, profile, ref };
  const outcome = await engine.run(run, { onSummary: (told) => (summary = told) });
  return { ...outcome, summary };
}
