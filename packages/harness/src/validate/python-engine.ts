import { Pungi } from '@pungi/core';
import { type Config, type ConfigSources, loadConfig } from '@pungi/core/config';
import {
  DEFAULT_MEMORY_MB,
  LONGEST_MS,
  type PythonRunner,
  type ScriptEngineConfig,
  wholeConfig,
} from './runner.js';
import { ScriptEngine } from './script-engine.js';

export interface PythonEngineConfig extends ScriptEngineConfig {
  /** The interpreter, instead of the first found. */
  python?: string;
}

/** A script engine that starts and closes its own Pungi. */
export class PythonEngine extends ScriptEngine {
  readonly #own: Pungi | undefined;

  constructor({ python, ...config }: PythonEngineConfig = {}, runner?: PythonRunner) {
    // Validated before anything is started.
    wholeConfig(config);
    const sources = python === undefined ? {} : { flags: { python } };
    const own = runner === undefined ? Pungi.start(configForScripts(sources, [config])) : undefined;
    super(config, (runner ?? own)!);
    this.#own = own;
  }

  /**
   * Resolves to an engine that is ready. Rejects with a ScriptError, such as InterpreterNotFound with the
   * places searched.
   */
  static async create(config: PythonEngineConfig = {}, runner?: PythonRunner): Promise<PythonEngine> {
    const engine = new PythonEngine(config, runner);
    try {
      await engine.ready();
      return engine;
    } catch (thrown) {
      await engine.close();
      throw thrown;
    }
  }

  /** Ends every process. A runner that was passed in stays open. */
  async close(): Promise<void> {
    await this.#own?.close();
  }
}

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
