import { constants } from 'node:os';
import { distributionOf } from '@pungi/core';
import { PungiError } from '@pungi/core/base';
import type { Outcome, Verdict } from '@pungi/core/contract';
import { alteredScript } from './check-input.js';
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
