import { Semaphore, sha256 } from '@pungi/core/base';
import type { InputFile, Outcome } from '@pungi/core/contract';
import {
  checkContext,
  checkOptions,
  checkPrecompiled,
  errorReported,
  errorThrown,
  readScript,
  reportMissing,
} from './error-of.js';

import { localModules } from './local-modules.js';
import { Printed, readOutcome, readReport } from './read-outcome.js';
import {
  type CompiledCode,
  type EngineConfig,
  type PythonRunner,
  type ScriptContext,
  type ScriptEngineConfig,
  wholeConfig,
} from './runner.js';
import { notRun, type ScriptError, type ScriptFailure, type ScriptResult } from './script-result.js';

/**
 * Every worker has the judging code loaded (packages/core/python/pungi/harness); its job is the variable
 * `context`.
 */
const CODE = `
import os
from pungi.harness import carry_out
os.remove(__file__)  # not a file of the script that is run

def judge():
    return carry_out(context)
`;

/** The call that every run makes, for any script. */
const CALL = { function: 'judge', arguments: {} };

/**
 * The code that is run for a script. It starts with the script's dependency block, so that the run gets its
 * environment.
 */
const bootstrapFor = (source: string): string => `${packagesOf(source)}${CODE}`;

const compileBootstrap = (runner: PythonRunner, code: string): Promise<CompiledCode> =>
  runner.precompile(code, 'pungi_validator.py');

/**
 * The comments of a `# /// script` block (PEP 723), on their original lines, so that errors in it have the
 * right line.
 */
function packagesOf(source: string): string {
  if (!source.includes('# /// script')) return '';
  const lines = source.split(/\r\n|\r|\n/);
  return lines.map((line) => (line === '#' || line.startsWith('# ') ? line : '')).join('\n');
}

/** A compiled script, for the interpreter that compiled it; another interpreter compiles it again. */
export interface PythonScript {
  readonly source: string;
  readonly filename: string;
  readonly functionName?: string;
  /** The hash of the source. */
  readonly sha256: string;
  readonly bytecode: string;
  readonly bytecodeSha256: string;
  readonly tag: string;
}

export interface ExecuteOptions {
  /** Overrides the engine's limit. */
  timeoutMs?: number;
  /** The name in tracebacks. */
  filename?: string;
  /** The script's folder, whose modules and packages can be imported. */
  folder?: string;
  signal?: AbortSignal;
}

type Execution = Pick<PythonScript, 'source' | 'filename'> & Partial<PythonScript>;

interface RunSettings {
  printed?: Printed;
  files?: InputFile[];
  /** The script whose packages it gets, if not that of the job. */
  source?: string;
}

const FILENAME = 'script.py';

/** Runs Python scripts that judge answers, each in its own sandboxed process. */
export class ScriptEngine {
  readonly #config: EngineConfig;
  readonly #runner: PythonRunner;
  readonly #turns: Semaphore;
  /** By code: scripts without their own packages share one. */
  readonly #bootstraps = new Map<string, Promise<CompiledCode>>();

  /** The engine does not close the runner: it belongs to its creator. */
  constructor(config: ScriptEngineConfig, runner: PythonRunner) {
    this.#config = wholeConfig(config);
    this.#runner = runner;
    this.#turns = new Semaphore(this.#config.maxConcurrent);
  }

  /** Resolves when scripts can run; rejects with a ScriptError, such as InterpreterNotFound. */
  async ready(): Promise<void> {
    await this.#compiledBootstrap('');
  }

  /** Never rejects: a problem is in the result's error. */
  async executeScript(
    script: string,
    context: ScriptContext = {},
    options: ExecuteOptions & { functionName?: string } = {},
  ): Promise<ScriptResult> {
    return this.#execute(context, options, () => {
      const { filename = FILENAME, functionName } = options;
      return {
        source: readScript(script),
        filename,
        ...(functionName === undefined ? {} : { functionName }),
      };
    });
  }

  /** Throws a ScriptError: a SyntaxError with the line if it does not compile. */
  async precompileScript(
    script: string,
    functionName?: string,
    options: ExecuteOptions = {},
  ): Promise<PythonScript> {
    const source = readScript(script);
    checkOptions({ ...options, functionName });
    const { filename = FILENAME } = options;
    const job = { task: 'compile', source, filename, function: functionName };
    const outcome = await this.#run(job, options);
    const read = readReport(outcome);
    if ('error' in read) throw read.error;
    if (read.report.error) throw errorReported(read.report.error, outcome.environment);
    const { bytecode, tag } = read.report;
    if (bytecode === undefined || tag === undefined) throw reportMissing(outcome);
    return {
      source,
      filename,
      ...(functionName === undefined ? {} : { functionName }),
      sha256: sha256(source),
      bytecode,
      bytecodeSha256: sha256(bytecode),
      tag,
    };
  }

  /**
   * Returns why a script or an expression does not compile; undefined if it does. Nothing is installed for
   * it.
   */
  async syntaxErrorOf(
    script: string,
    { filename = FILENAME, isExpression = false }: { filename?: string; isExpression?: boolean } = {},
  ): Promise<ScriptError | undefined> {
    const source = readScript(script);
    const outcome = await this.#run({ task: 'compile', source, filename, isExpression }, {}, { source: '' });
    const read = readReport(outcome);
    if ('error' in read) throw read.error;
    return read.report.error ? errorReported(read.report.error, outcome.environment) : undefined;
  }

  /** Never rejects. */
  async executePrecompiled(
    script: PythonScript,
    context: ScriptContext = {},
    options: Omit<ExecuteOptions, 'filename'> = {},
  ): Promise<ScriptResult> {
    return this.#execute(context, options, () => {
      checkPrecompiled(script);
      return script;
    });
  }

  /**
   * Reports each expression that is false or cannot be evaluated as a failure. Throws a ScriptError if all
   * failed together.
   */
  async evaluate(
    expressions: readonly string[],
    context: ScriptContext = {},
    options: Omit<ExecuteOptions, 'filename'> = {},
  ): Promise<ScriptFailure[]> {
    checkContext(context);
    const job = { task: 'expressions', expressions, context };
    const read = readReport(await this.#run(job, options));
    if ('error' in read) throw read.error;
    return read.report.failures;
  }

  async #execute(
    context: ScriptContext,
    options: ExecuteOptions,
    execution: () => Execution,
  ): Promise<ScriptResult> {
    const printed = new Printed();
    try {
      checkOptions(options);
      const { source, filename, functionName, bytecode, tag } = execution();
      checkContext(context);
      const { folder } = options;
      const files = folder === undefined ? [] : localModules(folder, source);
      const code = { source, filename, function: functionName, bytecode, tag };
      const job = { task: 'script', ...code, context, expose: true };
      return readOutcome(await this.#run(job, options, { printed, files }), printed);
    } catch (thrown) {
      return notRun(errorThrown(thrown));
    }
  }

  async #run(
    job: { task: string; source?: string; [more: string]: unknown },
    { timeoutMs = this.#config.timeoutMs, signal }: ExecuteOptions,
    { printed, files = [], source = job.source ?? '' }: RunSettings = {},
  ): Promise<Outcome> {
    const { environment, memoryLimitMb } = this.#config;
    const bootstrap = await this.#compiledBootstrap(source);
    const request = {
      context: job,
      call: CALL,
      limits: { timeoutMs: Math.ceil(timeoutMs), memoryMb: Math.ceil(memoryLimitMb) },
      ...(environment === undefined ? {} : { venvName: environment }),
      ...(files.length === 0 ? {} : { files }),
    };
    const listening = { ...(signal && { signal }), ...printed?.listeners };
    return this.#turns.take(() => {
      printed?.begin();
      return this.#runner.runCompiled(bootstrap, request, listening);
    });
  }

  async #compiledBootstrap(source: string): Promise<CompiledCode> {
    const code = bootstrapFor(source);
    const compiling = this.#bootstraps.get(code) ?? compileBootstrap(this.#runner, code);
    this.#bootstraps.set(code, compiling);
    try {
      return await compiling;
    } catch (thrown) {
      // The next run tries again.
      this.#bootstraps.delete(code);
      throw errorThrown(thrown);
    }
  }
}
