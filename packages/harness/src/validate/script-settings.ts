import { type Config, type ConfigSources, loadConfig } from '@pungi/core/config';
import { DEFAULT_MEMORY_MB, LONGEST_MS, type ScriptEngineConfig } from './runner.js';

const PROFILE = 'default';
export const SCRIPT_DEFAULTS = { audit: false };

/**
 * The configuration for a Pungi that runs only validation scripts. The scripts are trusted by their owner and have their own
 * limits and environment, so the settings for callers do not apply. They are not audited unless requested.
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
