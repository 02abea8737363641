import type { AuditRecorder } from '../audit/recorder.js';
import { backgroundFolder, type StoreLimits } from '../background/run-store.js';
import type { BackgroundLimits } from '../background.js';
import { type Advice, adviceFor, type Door } from '../base/advice.js';
import { type Config, isServed } from '../config/schema.js';
import { SELF } from '../contract/caller.js';
import type { EnvironmentEvent } from '../contract/environment.js';
import type { Engine, EngineOptions } from '../engine/engine.js';
import type { EngineSide } from '../environments/editor.js';
import type { EnvironmentsOptions } from '../environments/environments.js';
import { ceilingsOf } from '../gate/limits.js';

/** Hints name the tools for packages only where a server offers them. */
export const adviceOf = (config: Config, door: Door): Advice =>
  adviceFor(door, config.environmentTools && isServed(config, 'packages'));

export const engineOptions = (config: Config, door: Door): EngineOptions => ({
  ceilings: ceilingsOf(config),
  advice: adviceOf(config, door),
  python: config.python,
  tier: config.tier,
  allowUnsandboxed: config.allowUnsandboxed,
  poolSize: config.poolSize,
  preload: config.preloadModules,
  preloadTimeoutMs: config.preloadTimeoutMs,
  // A command has one run.
  learnsPreloads: config.learnPreloads && door !== 'command',
  memoryMb: config.maxMemoryMb,
  diskMb: config.maxDiskMb,
  systemPackages: config.systemPackages,
  maxActive: config.maxConcurrentExecutions,
  // A command has one session at most.
  maxKept: door === 'command' ? 1 : config.maxSessions,
  maxActivePerClient: config.maxConcurrentPerClient,
  maxQueued: config.maxQueuedExecutions,
  idleTimeoutMs: config.idleTimeoutMs,
  environment: config.defaultVenvName,
  maxWarm: config.maxWarmEnvironments,
  cgroups: config.cgroups,
  totalMemoryMb: config.maxTotalMemoryMb,
});

/** It is held in memory. */
const MOST_SAVED_MB = 1024;

/** A command may save all that fits on the disk of its run. */
export const commandArtifactMb = ({ maxDiskMb }: Pick<Config, 'maxDiskMb'>): number =>
  Math.min(maxDiskMb, MOST_SAVED_MB);

/** Half of the slots at most: the others are for calls that somebody waits for. */
export function backgroundLimits(config: Config): BackgroundLimits {
  const slots = Math.max(1, Math.floor(config.maxConcurrentExecutions / 2));
  // Where there may be several clients, one of them does not take all of these either.
  const { maxConcurrentPerClient: perClient = Number.POSITIVE_INFINITY } = config;
  const slotsPerCaller = Number.isFinite(perClient) ? Math.max(1, Math.min(perClient, slots - 1)) : slots;
  return {
    total: config.maxBackgroundRuns,
    perCaller: config.maxBackgroundPerCaller,
    slots,
    slotsPerCaller,
  };
}

export const keptOutcomes = (config: Config): StoreLimits => ({
  folder: backgroundFolder(config),
  totalBytes: config.backgroundMb * 1024 * 1024,
  keptMs: config.backgroundHours * 3_600_000,
});

export const environmentsOptions = (config: Config, door: Door): EnvironmentsOptions => ({
  advice: adviceOf(config, door),
  base: config.venvsBasePath,
  defaultName: config.defaultVenvName,
  packageTimeoutMs: config.packageTimeoutMs,
  packageSources: config.packageSources,
  maxEnvironments: config.maxEnvironments,
  maxEnvironmentMb: config.maxEnvironmentMb,
  uv: config.uv,
  systemPackages: config.systemPackages,
});

export const engineSide = (engine: Engine): EngineSide => ({
  interpreter: async () => (await engine.started).interpreter,
  isWarm: (name) => engine.backend.figures(name) !== undefined,
  retire: (name, inForce) => engine.backend.retire(name, inForce),
});

/** Records changes of environments in the audit trail. */
export const recordEnvironment =
  (audit: AuditRecorder) =>
  async (event: EnvironmentEvent): Promise<void> => {
    const { caller, environment } = event;
    const who = { client: caller.client || SELF.client, token: caller.token };
    if ('requested' in event) {
      const { action, requested, added, removed, error, lock } = event;
      await audit.install({ ...who, environment, action, requested, added, removed, error }, lock);
    } else {
      const { action, details, lock } = event;
      await audit.environment({ ...who, environment, action, details }, lock);
    }
  };
