import { loadConfig } from '../config/load.js';
import type { Config } from '../config/schema.js';
import {
  type PythonEngineConfig as EngineConfig,
  PythonEngine as ScriptEngine,
} from '../harness/validate/python-engine.js';
import type { PythonRunner } from '../harness/validate/runner.js';
import { Pungi } from '../pungi.js';

export interface PythonEngineConfig extends EngineConfig {
  /** The interpreter, instead of the first found. */
  python?: string;
}

/** The most that a single script can be granted. */
const LONGEST_MS = 600_000;

/** The engine for validation scripts, for those who have no Pungi: it starts its own, and closes it. */
export class PythonEngine extends ScriptEngine {
  readonly #own: Pungi | undefined;

  constructor({ python, ...config }: PythonEngineConfig = {}, runner?: PythonRunner) {
    const own = runner === undefined ? Pungi.start(settingsFor(config, python)) : undefined;
    super(config, (runner ?? own)!);
    this.#own = own;
  }

  /** An engine that can run scripts. Rejects with a ScriptError, such as InterpreterNotFound, which says where it looked. */
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

  /** Ends every process. A runner that was handed in stays open. */
  async close(): Promise<void> {
    await this.#own?.close();
  }
}

/** The limits of Pungi are ceilings, and scripts come with their own. */
export function settingsFor({ memoryLimitMb = 0 }: EngineConfig, python?: string): Config {
  const config = loadConfig();
  return {
    ...config,
    ...(python === undefined ? {} : { python }),
    executionTimeoutMs: Math.max(config.executionTimeoutMs, LONGEST_MS),
    maxCpuMs: Math.max(config.maxCpuMs, LONGEST_MS),
    maxMemoryMb: Math.max(config.maxMemoryMb, memoryLimitMb),
  };
}
