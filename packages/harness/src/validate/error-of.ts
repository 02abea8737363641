import { constants } from 'node:os';
import { distributionOf } from '@pungi/core';
import { PungiError, sha256, withoutMark } from '@pungi/core/base';
import type { Outcome, Verdict } from '@pungi/core/contract';
import { shown } from '../judge/shown.js';
import { LONGEST_MS } from './runner.js';
import { type ErrorDetails, type ReportedError, ScriptError } from './script-result.js';

const { EACCES, EPERM, EROFS, ENETUNREACH } = constants.errno;
/** Errors with which the sandbox refuses an operation. */
const REFUSALS = new Set([EACCES, EPERM, EROFS, ENETUNREACH]);

/** Converts an exception of the script, or its exit. */
export function errorReported(report: ReportedError, environment: string | null): ScriptError {
  const details = detailsOf(report);
  const where = report.line ? ` (line ${report.line})` : '';
  const what = [report.type, report.message].filter(Boolean).join(': ');
  if (report.stage === 'exit') {
    const code = report.status ?? 1;
    const reason = report.message === '' ? '.' : `: ${report.message}`;
    return new ScriptError('ProcessError', `The script ended with status ${code}${reason}`, {
      code,
      ...(report.message === '' ? { isPlainExit: true } : {}),
    });
  }
  if (report.stage === 'bytecode') return alteredScript('script.bytecode');
  if (report.stage === 'syntax')
    return new ScriptError(
      'SyntaxError',
      `The script cannot be compiled: ${report.message}${where}.`,
      details,
    );
  if (isImport(report))
    return new ScriptError('ImportError', importSentence(report, environment, where), {
      ...details,
      ...(report.module ? { module: report.module } : {}),
    });
  if (isRefusal(report))
    return new ScriptError('SecurityError', `The sandbox refused an operation: ${what}${where}.`, details);
  if (report.type === 'AssertionError')
    return new ScriptError('RuntimeError', `${report.message || 'An assertion failed'}${where}`, details);
  return new ScriptError('RuntimeError', `${what}${where}`, details);
}

const isImport = ({ isMissing, type }: ReportedError) => isMissing === true || type === 'ImportError';

const isRefusal = ({ errno, type }: ReportedError) =>
  (errno !== null && errno !== undefined && REFUSALS.has(errno)) || type === 'gaierror';

function importSentence(report: ReportedError, environment: string | null, where: string): string {
  const { module, isMissing, message } = report;
  if (!isMissing || !module) return `ImportError: ${message}${where}.`;
  const place = environment ?? 'default';
  const name = distributionOf(module);
  if (place.startsWith('inline-'))
    return `The module "${module}"${where} is not among the dependencies of the script; add ${name ?? 'its package'} to its "# /// script" block.`;
  const absent = `The module "${module}"${where} is not installed in the environment "${place}"`;
  return name === null
    ? `${absent}: if it is a file of yours, put it next to the script; if it is a package, install it with: pungi env install ${place} PACKAGE`
    : `${absent}; install it with: pungi env install ${place} ${name}`;
}

function detailsOf({ line, column, text, type, traceback, ...report }: ReportedError): ErrorDetails {
  return {
    ...(line ? { line } : {}),
    ...(column ? { column } : {}),
    ...(text ? { text } : {}),
    ...(type ? { exception: type } : {}),
    ...(traceback ? { traceback } : {}),
    ...('expected' in report ? { expected: report.expected } : {}),
    ...('actual' in report ? { actual: report.actual } : {}),
  };
}

/** Converts the verdict of a run that returned no report. */
export function errorOfVerdict(verdict: Exclude<Verdict, { kind: 'ok' }>): ScriptError {
  const { message } = verdict;
  switch (verdict.kind) {
    case 'timed-out':
    case 'cpu-exceeded':
      return new ScriptError('TimeoutError', message, { timeoutMs: verdict.limitMs });
    case 'memory-exceeded':
      return new ScriptError('MemoryError', message, { limitMb: verdict.limitMb });
    case 'python-error': {
      // Its line is in our code, not in the script.
      const { type, message: reason } = verdict.exception;
      return new ScriptError('RuntimeError', [type, reason].filter(Boolean).join(': '), { exception: type });
    }
    case 'exited':
      return new ScriptError('ProcessError', message, { code: verdict.status });
    case 'killed':
      return verdict.signal === 'SIGSYS'
        ? new ScriptError('SecurityError', message)
        : new ScriptError('ProcessError', message, { code: null });
    case 'processes-exceeded':
    case 'disk-exceeded':
    case 'output-exceeded':
      return new ScriptError('ProcessError', message, { code: null });
    case 'denied':
      return new ScriptError('SecurityError', message);
    default:
      return new ScriptError('EngineError', message);
  }
}

/** Converts an error that kept the engine from running anything. */
export function errorThrown(thrown: unknown): ScriptError {
  if (thrown instanceof ScriptError) return thrown;
  const { code, message, details } = PungiError.from(thrown);
  if (code !== 'INTERPRETER_NOT_FOUND') return new ScriptError('EngineError', message, {}, thrown);
  const looked = (details['looked'] as string[] | undefined) ?? [];
  return new ScriptError('InterpreterNotFound', message, { looked }, thrown);
}

/** The script ended its process without returning, so its findings are lost. */
export const reportMissing = ({ value }: Outcome): ScriptError =>
  value === null
    ? new ScriptError(
        'ProcessError',
        'The script ended its own process, so its findings are lost; use sys.exit instead.',
        { code: 0 },
      )
    : new ScriptError(
        'EngineError',
        `The findings of the script cannot be read: ${(value.note ?? 'they are not plain data').replace(/\.$/, '')}.`,
      );

/** Validates what callers pass to the engine: TypeScript's types do not exist at run time. */

const invalidInput = (argument: string, wanted: string, given: unknown): ScriptError =>
  new ScriptError('INVALID_INPUT', `${argument} must be ${wanted}; got ${describe(given)}.`);

export function readScript(script: unknown): string {
  if (typeof script !== 'string') throw invalidInput('script', 'a string of Python source', script);
  return withoutMark(script);
}

export function checkPrecompiled(script: unknown): void {
  const texts = ['source', 'sha256', 'filename', 'bytecode', 'bytecodeSha256', 'tag'];
  const isScript =
    isObject(script) && texts.every((name) => typeof (script as Record<string, unknown>)[name] === 'string');
  if (!isScript) throw invalidInput('script', 'a result of precompileScript', script);
  const { source, bytecode, ...sums } = script as Record<
    'source' | 'sha256' | 'bytecode' | 'bytecodeSha256',
    string
  >;
  if (sha256(source) !== sums.sha256) throw alteredScript('script.source');
  if (sha256(bytecode) !== sums.bytecodeSha256) throw alteredScript('script.bytecode');
}

const alteredScript = (argument: string): ScriptError =>
  new ScriptError(
    'INVALID_INPUT',
    `${argument} is not a result of precompileScript: compile the script again.`,
  );

export function checkOptions(options: unknown): void {
  if (!isObject(options)) throw invalidInput('options', 'an object', options);
  const { timeoutMs, filename, functionName, folder } = options as Record<string, unknown>;
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= LONGEST_MS))
    throw invalidInput('options.timeoutMs', `a number above 0, at most ${LONGEST_MS}`, timeoutMs);
  for (const [name, value] of Object.entries({ filename, functionName, folder }))
    if (value !== undefined && typeof value !== 'string')
      throw invalidInput(`options.${name}`, 'a string', value);
}

/** A context is sent to Python as JSON. Values that JSON would silently change are refused. */
export function checkContext(context: unknown): void {
  if (!isObject(context) || Array.isArray(context)) throw invalidInput('context', 'an object', context);
  const open: { value: unknown; path: string; within: readonly unknown[] }[] = [
    { value: context, path: 'context', within: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (isForeign(value)) throw invalidInput(path, 'JSON', value);
    if (!isObject(value)) continue;
    if (next.within.includes(value)) throw invalidInput(path, 'JSON without cycles', 'a cycle');
    // The runner refuses deeper values.
    if (next.within.length > MOST_DEPTH) continue;
    const within = [...next.within, value];
    for (const [key, inner] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
      if (typeof inner === 'object' || isForeign(inner)) open.push({ value: inner, path: at, within });
    }
  }
}

const MOST_DEPTH = 500;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isForeign = (value: unknown): boolean =>
  (typeof value === 'number' && !Number.isFinite(value)) ||
  ['bigint', 'function', 'symbol'].includes(typeof value);

const describe = (value: unknown): string =>
  typeof value === 'function'
    ? 'a function'
    : typeof value === 'number' ||
        typeof value === 'bigint' ||
        value === undefined ||
        typeof value === 'symbol'
      ? String(value)
      : shown(value);
