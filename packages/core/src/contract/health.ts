import { z } from 'zod';
import { EnvironmentInfo } from './environment.js';
import { Tier } from './outcome.js';

export const Metrics = z.object({
  totalExecutions: z.number().int(),
  totalErrors: z.number().int().describe('runs that did not end ok'),
  successRate: z.number().describe('percent of runs that ended ok; 100 before the first'),
  averageExecutionTimeMs: z.number(),
  averageMemoryUsageMb: z.number(),
  executionTimeMs: z
    .object({ p50: z.number(), p95: z.number(), p99: z.number() })
    .describe('of the latest runs, from the start of the code to its end'),
  latencyMs: z
    .object({ p50: z.number(), p95: z.number(), p99: z.number() })
    .describe('of the latest runs, from the request on, including the wait for a worker'),
  peakMemoryUsageMb: z.number(),
  verdicts: z.record(z.string(), z.number().int()).describe('number of runs per verdict'),
  activeExecutions: z.number().int(),
  queuedExecutions: z.number().int(),
  uptimeSeconds: z.number(),
  serverMemoryMb: z.number(),
});
export type Metrics = z.infer<typeof Metrics>;

export const Alert = z.object({
  name: z.enum(['latency', 'failure-rate', 'memory', 'queue']),
  value: z.number(),
  threshold: z.number(),
  since: z.string().describe('ISO 8601'),
  message: z.string().describe('one sentence for a person'),
});
export type Alert = z.infer<typeof Alert>;

export const ClusterWorkerHealth = z.object({
  name: z.string(),
  state: z.enum(['ready', 'cordoned', 'draining', 'stopped', 'silent']),
  version: z.string(),
  arch: z.string(),
  labels: z.record(z.string(), z.string()),
  cores: z.number().int(),
  load: z.number().describe('processes that run or want to, over the last minute'),
  slots: z.number().int().describe('runs that it takes at the same time'),
  busy: z.number().int(),
  queue: z.number().int().describe('runs of its sessions that wait for a slot'),
  sessions: z.number().int(),
  warm: z.array(z.string()).describe('environments whose workers are parked there'),
});
export type ClusterWorkerHealth = z.infer<typeof ClusterWorkerHealth>;

export const ClusterHealth = z.object({
  name: z.string(),
  waiting: z.number().int().describe('runs of this server that wait, for their turn or for a worker'),
  queued: z.number().int().describe('background runs of the cluster that no front end has taken yet'),
  workers: z.array(ClusterWorkerHealth).describe('the workers that this server hears, or has lost lately'),
});
export type ClusterHealth = z.infer<typeof ClusterHealth>;

export const Health = z.object({
  status: z.enum(['healthy', 'starting', 'degraded', 'unhealthy']),
  version: z.string(),
  pythonVersion: z.string().describe('e.g. "Python 3.11.7"'),
  config: z.record(z.string(), z.unknown()).describe('the configuration in force'),
  metrics: Metrics,
  isolation: z.object({
    tier: Tier.nullable(),
    features: z.array(z.string()),
    warning: z.string().nullable().describe('what a person should know about the tier'),
    cgroup: z
      .object({
        version: z.enum(['v1', 'v2']).nullable().describe('null: runs have no cgroups'),
        reason: z.string().nullable().describe('why runs have no cgroups'),
      })
      .nullable(),
    totalMemoryMb: z
      .number()
      .nullable()
      .describe('limits for all runs together; null: only limits per run apply'),
  }),
  interpreter: z.object({ path: z.string(), version: z.string() }).nullable(),
  environment: EnvironmentInfo.nullable().describe('the requested environment, or the default one'),
  warmEnvironments: z.array(z.string()).describe('environments whose workers are parked here'),
  pool: z.object({
    target: z.number().int(),
    parked: z.number().int(),
    parking: z.number().int(),
    busy: z.number().int(),
    forkServers: z.number().int(),
    restarts: z.number().int(),
  }),
  preloads: z
    .array(
      z.object({
        module: z.string(),
        problem: z.string().nullable().describe('why it is not loaded'),
        tookMs: z.number().optional().describe('the time of its import, which runs save'),
        isLearned: z.literal(true).optional().describe('whether runs imported it before (LEARN_PRELOADS)'),
      }),
    )
    .describe('modules that runs of that environment find loaded; empty while its packages load'),
  queue: z.object({ active: z.number().int(), waiting: z.number().int(), capacity: z.number().int() }),
  cluster: ClusterHealth.optional().describe('the machines that run code, in a cluster'),
  alerts: z.array(Alert).describe('thresholds that are exceeded now, the reasons for being degraded'),
  audit: z.object({
    enabled: z.boolean(),
    folder: z.string().nullable(),
    problem: z.string().nullable().describe('why nothing can be recorded, so that runs are refused'),
  }),
  notes: z.array(z.string()).describe('what a person should know though runs work'),
  problem: z.string().nullable().describe('why the server is not healthy, and what to do'),
});
export type Health = z.infer<typeof Health>;
