import { type Config, type ConfigSources, loadConfig } from '@pungi/core/config';
import { DEFAULT_MEMORY_MB, LONGEST_MS, type ScriptEngineConfig } from './runner.js';

const PROFILE = 'default';
export const SCRIPT_DEFAULTS = { audit: false };

/**
 * The configuration of a Pungi that runs nothing but validation scripts. They are their owner's own, with limits and an
 * environment of their own: what is configured for callers does not narrow them, and the trail of what callers ran does not
 * drown in them, unless it is asked for.
 */
export function configForScripts(
  sources: ConfigSources,
  engines: readonly Pick<ScriptEngineConfig, 'memoryLimitMb'>[],
): Config {
  const config = loadConfig({ ...sources, defaults: SCRIPT_DEFAULTS });
  const memory = engines.map(({ memoryLimitMb = DEFAULT_MEMORY_MB }) => Math.ceil(memoryLimitMb));
  return {
    ...config,
    executionTimeoutMs: Math.max(config.executionTimeoutMs, LONGEST_MS),
    maxCpuMs: Math.max(config.maxCpuMs, LONGEST_MS),
    maxMemoryMb: Math.max(config.maxMemoryMb, ...memory),
    defaultProfile: PROFILE,
    allowedProfiles: [PROFILE],
  };
}
