import type { TestSpecification } from '../../contract/spec.js';
import type { TestResult } from '../../contract/test-report.js';
import type { JsonMap } from '../judge/answer.js';
import type { Snapshots } from '../judge/snapshot-store.js';
import type { PlannedTest } from '../spec/plan.js';
import type { Scope } from '../spec/substitute.js';
import type { Validators } from '../validate/validators.js';
import type { Servers } from './servers.js';
import type { Environment } from './start-server.js';

/** What the tests of one specification share while they run. */
export interface Suite {
  specification: TestSpecification;
  environment: Environment;
  servers: Servers;
  validators: Validators | undefined;
  snapshots: Snapshots;
  /** Aborted where the run is broken off. */
  signal: AbortSignal;
  timeoutMs: number;
  /** What was captured for later tests. */
  captured: JsonMap;
  /** For validation scripts: what came before. */
  earlier: Record<string, { status: string; response: unknown }>;
  /** Told once, when a server cannot be had. */
  problem?: string;
}

export const scopeFor = (
  { specification, environment, captured }: Suite,
  { row, test }: Partial<Pick<PlannedTest, 'row' | 'test'>> = {},
  nearer: JsonMap = {},
): Scope => ({
  variables: [row ?? {}, test?.variables ?? {}, specification.variables],
  captured: { ...captured, ...nearer },
  environment,
});

/** A result about which nothing is known yet. */
export const blankResult = (
  {
    id,
    kind,
    target,
    name,
    description,
    tags,
  }: Pick<TestResult, 'id' | 'kind' | 'target' | 'name'> & {
    description?: string | undefined;
    tags?: string[];
  },
  status: TestResult['status'],
): TestResult => ({
  id,
  kind,
  target,
  name,
  ...(description === undefined ? {} : { description }),
  tags: tags ?? [],
  status,
  durationMs: 0,
  attempts: 0,
  failures: [],
  advisories: [],
  logs: [],
});
