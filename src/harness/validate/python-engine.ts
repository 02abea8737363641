import { sha256 } from '../../base/sha256.js';
import { Turns } from '../../base/turns.js';
import type { Outcome } from '../../contract/outcome.js';
import type { RunOptions } from '../../contract/run.js';
import { CALL, compileBootstrap } from './bootstrap.js';
import { errorThrown, errorTold, unheard } from './error-of.js';
import { readOutcome, toldBy } from './read-outcome.js';
import type { CompiledCode, PythonRunner } from './runner.js';
import type { ScriptContext } from './script-context.js';
import { notRun, type ScriptFailure, type ScriptLog, type ScriptResult } from './script-result.js';

export interface PythonEngineConfig {
  /** How long a script may run; 5000 ms if not given. */
  timeoutMs?: number;
  /** 256 MB if not given. */
  memoryLimitMb?: number;
  /** The named environment that scripts run in; the default one if not given. */
  environment?: string;
  /** Scripts that run at the same time. The others wait here, and not in the runner's own queue. */
  maxConcurrent?: number;
}

/** A script that was compiled, for the interpreter that compiled it; another one compiles it again. */
export interface PythonScript {
  readonly source: string;
  readonly filename: string;
  readonly functionName?: string;
  readonly sha256: string;
  readonly bytecode: string;
  readonly tag: string;
}

export interface ExecuteOptions {
  /** Less or more than what the engine grants. */
  timeoutMs?: number;
  /** What tracebacks call it. */
  filename?: string;
  signal?: AbortSignal;
}

type Execution = Pick<PythonScript, 'source' | 'filename'> & Partial<PythonScript>;

const DEFAULTS = { timeoutMs: 5000, memoryLimitMb: 256, maxConcurrent: 5 };
const FILENAME = 'script.py';
const MOST_LINES = 1000;

/** Runs Python scripts that judge what a server answered, each in a sandboxed process of its own. */
export class PythonEngine {
  readonly #config: PythonEngineConfig & typeof DEFAULTS;
  readonly #runner: PythonRunner;
  readonly #turns: Turns;
  #bootstrap: Promise<CompiledCode> | undefined;

  /** The runner is not closed with the engine: it belongs to whoever made it. */
  constructor(config: PythonEngineConfig, runner: PythonRunner) {
    const given = Object.entries(config).filter(([, value]) => value !== undefined);
    this.#config = { ...DEFAULTS, ...Object.fromEntries(given) };
    this.#runner = runner;
    this.#turns = new Turns(this.#config.maxConcurrent);
  }

  /** Resolves when scripts can run; rejects with a ScriptError, such as InterpreterNotFound. */
  async ready(): Promise<void> {
    await this.#compiledBootstrap();
  }

  /** Never rejects: what went wrong is the result's error. */
  async executeScript(
    script: string,
    context: ScriptContext = {},
    { filename = FILENAME, ...options }: ExecuteOptions & { functionName?: string } = {},
  ): Promise<ScriptResult> {
    const { functionName, ...rest } = options;
    const execution = { source: script, filename, ...(functionName === undefined ? {} : { functionName }) };
    return this.#execute(execution, context, rest);
  }

  /** Throws a ScriptError: SyntaxError with the line where it does not compile. */
  async precompileScript(
    script: string,
    functionName?: string,
    { filename = FILENAME, ...options }: ExecuteOptions = {},
  ): Promise<PythonScript> {
    const job = { task: 'compile', source: script, filename, function: functionName };
    const outcome = await this.#run(job, options);
    const read = toldBy(outcome);
    if ('error' in read) throw read.error;
    if (read.told.error) throw errorTold(read.told.error, outcome.environment);
    const { bytecode, tag } = read.told;
    if (bytecode === undefined || tag === undefined) throw unheard(outcome);
    return {
      source: script,
      filename,
      ...(functionName === undefined ? {} : { functionName }),
      sha256: sha256(script),
      bytecode,
      tag,
    };
  }

  /** Never rejects. */
  async executePrecompiled(
    script: PythonScript,
    context: ScriptContext = {},
    options: Omit<ExecuteOptions, 'filename'> = {},
  ): Promise<ScriptResult> {
    return this.#execute(script, context, options);
  }

  /** Each expression that does not hold, or cannot be evaluated, is a failure. Throws a ScriptError where all of them failed together. */
  async evaluate(
    expressions: readonly string[],
    context: ScriptContext = {},
    options: Omit<ExecuteOptions, 'filename'> = {},
  ): Promise<ScriptFailure[]> {
    const read = toldBy(await this.#run({ task: 'expressions', expressions, context }, options));
    if ('error' in read) throw read.error;
    return read.told.failures;
  }

  async #execute(
    { source, filename, functionName, bytecode, tag }: Execution,
    context: ScriptContext,
    options: ExecuteOptions,
  ): Promise<ScriptResult> {
    const job = { task: 'script', source, filename, function: functionName, bytecode, tag, context };
    const printed: ScriptLog[] = [];
    let began = 0;
    const onLine: RunOptions['onLine'] = ({ stream, text }) => {
      if (printed.length < MOST_LINES)
        printed.push({ level: stream, message: text, timeMs: Math.round(performance.now() - began) });
    };
    const onStart = () => {
      began = performance.now();
    };
    try {
      return readOutcome(await this.#run(job, options, { onLine, onStart }), printed);
    } catch (thrown) {
      return notRun(errorThrown(thrown));
    }
  }

  async #run(
    job: object,
    { timeoutMs = this.#config.timeoutMs, signal }: ExecuteOptions,
    { onLine, onStart }: { onLine?: RunOptions['onLine']; onStart?: () => void } = {},
  ): Promise<Outcome> {
    const { environment, memoryLimitMb } = this.#config;
    const bootstrap = await this.#compiledBootstrap();
    const request = {
      context: job,
      call: CALL,
      limits: { timeoutMs: Math.ceil(timeoutMs), memoryMb: Math.ceil(memoryLimitMb) },
      ...(environment === undefined ? {} : { venvName: environment }),
    };
    const listening = { ...(signal && { signal }), ...(onLine && { onLine }) };
    return this.#turns.take(() => {
      onStart?.();
      return this.#runner.runCompiled(bootstrap, request, listening);
    });
  }

  async #compiledBootstrap(): Promise<CompiledCode> {
    this.#bootstrap ??= compileBootstrap(this.#runner);
    try {
      return await this.#bootstrap;
    } catch (thrown) {
      // The next one tries again.
      this.#bootstrap = undefined;
      throw errorThrown(thrown);
    }
  }
}
