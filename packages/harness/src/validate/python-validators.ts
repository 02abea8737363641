import { basename } from 'node:path';
import type { Failure, ScriptConfig } from '@pungi/core/contract';
import type { z } from 'zod';
import { failure, mismatch } from '../judge/failure.js';
import { bounded } from '../judge/shown.js';
import type { PlannedScript } from '../spec/scripts.js';
import { errorThrown } from './error-of.js';
import type {
  PythonRunner,
  ScriptContext,
  ScriptEngineConfig,
  ValidateOptions,
  Validation,
  Validators,
} from './runner.js';
import { type PythonScript, ScriptEngine } from './script-engine.js';
import {
  notRun,
  type ScriptError,
  type ScriptFailure,
  type ScriptResult,
  type SessionChanges,
} from './script-result.js';

/** Converts `script_config` of a specification into engine settings. */
export function engineConfigOf(config: z.infer<typeof ScriptConfig> | undefined): ScriptEngineConfig {
  const { environment, security } = config ?? {};
  return {
    ...(environment === undefined ? {} : { environment }),
    ...(security === undefined
      ? {}
      : { timeoutMs: security.timeout_ms, memoryLimitMb: security.memory_limit_mb }),
  };
}

/** Validators that use the Python engine. Each script is compiled once. */
export class PythonValidators implements Validators {
  readonly #engine: ScriptEngine;
  readonly #compiled = new Map<string, Promise<PythonScript>>();
  #session: Record<string, unknown> = {};

  constructor(config: ScriptEngineConfig, runner: PythonRunner) {
    this.#engine = new ScriptEngine(config, runner);
  }

  get session(): Readonly<Record<string, unknown>> {
    return this.#session;
  }

  async run(
    script: PlannedScript,
    context: ScriptContext,
    options: ValidateOptions = {},
  ): Promise<Validation> {
    const { name, required, timeout_ms: timeoutMs } = script;
    const result = await this.#execute(script, this.#withSession(context), {
      ...options,
      ...(script.folder === undefined ? {} : { folder: script.folder }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    this.#apply(result.session);
    const found: Failure[] = result.failures.map((one) => failureOfScript(one, name));
    // An exit status adds nothing to reported failures.
    const isPlainExit = result.error?.kind === 'ProcessError' && result.error.details.isPlainExit === true;
    if (result.error && !(isPlainExit && found.length > 0)) found.push(failureOfError(result.error, name));
    return {
      failures: required ? found : [],
      advisories: required ? [] : found,
      logs: result.logs.map((line) => ({ ...line, script: name })),
      run: {
        name,
        status: found.length === 0 ? 'passed' : required ? 'failed' : 'advised',
        durationMs: result.durationMs,
        cpuMs: result.cpuMs,
        memoryMb: result.memoryMb,
        ...(result.error === null ? {} : { errorKind: result.error.kind }),
      },
    };
  }

  async evaluate(
    expressions: readonly string[],
    context: ScriptContext,
    options: ValidateOptions = {},
  ): Promise<Validation> {
    try {
      const found = await this.#engine.evaluate(expressions, this.#withSession(context), options);
      return { failures: found.map((one) => failureOfScript(one)), advisories: [], logs: [] };
    } catch (thrown) {
      return { failures: [failureOfError(errorThrown(thrown))], advisories: [], logs: [] };
    }
  }

  async #execute(
    script: PlannedScript,
    context: ScriptContext,
    options: ValidateOptions & { timeoutMs?: number; folder?: string },
  ): Promise<ScriptResult> {
    try {
      return await this.#engine.executePrecompiled(await this.#compile(script), context, options);
    } catch (thrown) {
      return notRun(errorThrown(thrown));
    }
  }

  #compile({ source, name, file, function: functionName }: PlannedScript): Promise<PythonScript> {
    const filename = file === undefined ? fileNameOf(name) : basename(file);
    const key = JSON.stringify([source, filename, functionName]);
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const compiling = this.#engine.precompileScript(source, functionName, { filename });
    this.#compiled.set(key, compiling);
    // A failure for lack of capacity or of an interpreter may not happen again.
    compiling.catch(() => this.#compiled.delete(key));
    return compiling;
  }

  /** Session variables that scripts have set override those of the caller. */
  #withSession(context: ScriptContext): ScriptContext {
    return { ...context, session: { ...context.session, ...this.#session } };
  }

  #apply({ set, removed }: SessionChanges): void {
    const kept = Object.entries(this.#session).filter(([key]) => !removed.includes(key));
    this.#session = { ...Object.fromEntries(kept), ...set };
  }
}

/** A file name for a script inside the specification, which has only a name. */
const fileNameOf = (name: string) => `${name.replace(/[^\p{L}\p{N}_.-]+/gu, '_').slice(0, 100)}.py`;

/** Converts a finding of a script, or of an unnamed expression, into a failure of its test. */
function failureOfScript({ message, line, path, ...values }: ScriptFailure, script?: string): Failure {
  const kind: Failure['kind'] = script === undefined ? 'expectation' : 'script';
  const more = { kind, ...(path === undefined ? {} : { path }) };
  const found =
    'expected' in values && 'actual' in values
      ? mismatch(message, values.expected, values.actual, more)
      : failure(message, { ...more, ...values });
  return { ...found, ...origin(script, line) };
}

/**
 * Converts the error of a script. A failed assertion is its finding; other errors are reported with the
 * script's name.
 */
function failureOfError({ kind, message, details }: ScriptError, script?: string): Failure {
  const isFinding = kind === 'RuntimeError' && details.exception === 'AssertionError';
  const who = script === undefined ? 'The expressions' : `The script "${script}"`;
  const sentence = isFinding ? message : `${who} failed: ${message}`;
  return {
    kind: script === undefined ? 'expectation' : 'script',
    message: sentence,
    ...('expected' in details ? { expected: bounded(details.expected) } : {}),
    ...('actual' in details ? { actual: bounded(details.actual) } : {}),
    ...origin(script, details.line),
  };
}

const origin = (script: string | undefined, line: number | undefined): Pick<Failure, 'script' | 'line'> => ({
  ...(script === undefined ? {} : { script }),
  ...(line === undefined ? {} : { line }),
});
