import { Pungi } from '@pungi/core';
import { type PythonRunner, type ScriptEngineConfig, wholeConfig } from './runner.js';
import { ScriptEngine } from './script-engine.js';
import { configForScripts } from './script-settings.js';

export interface PythonEngineConfig extends ScriptEngineConfig {
  /** The interpreter, instead of the first found. */
  python?: string;
}

/** The engine for validation scripts, for those who have no Pungi: it starts its own, and closes it. */
export class PythonEngine extends ScriptEngine {
  readonly #own: Pungi | undefined;

  constructor({ python, ...config }: PythonEngineConfig = {}, runner?: PythonRunner) {
    // Before anything is started that nobody would end.
    wholeConfig(config);
    const sources = python === undefined ? {} : { flags: { python } };
    const own = runner === undefined ? Pungi.start(configForScripts(sources, [config])) : undefined;
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
