import { constants } from 'node:os';
import { PungiError } from '../../base/errors.js';
import type { Outcome, Verdict } from '../../contract/outcome.js';
import { distributionOf } from '../../engine/module-names.js';
import { alteredScript } from './check-input.js';
import { type ErrorDetails, ScriptError, type ToldError } from './script-result.js';

const { EACCES, EPERM, EROFS, ENETUNREACH } = constants.errno;
/** What the sandbox answers to who wants out. */
const REFUSALS = new Set([EACCES, EPERM, EROFS, ENETUNREACH]);

/** What the script raised, or how it ended itself. */
export function errorTold(told: ToldError, environment: string | null): ScriptError {
  const details = detailsOf(told);
  const where = told.line ? ` (line ${told.line})` : '';
  const what = [told.type, told.message].filter(Boolean).join(': ');
  if (told.stage === 'exit') {
    const code = told.status ?? 1;
    const said = told.message === '' ? '.' : `: ${told.message}`;
    return new ScriptError('ProcessError', `The script ended with status ${code}${said}`, {
      code,
      ...(told.message === '' ? { isPlainExit: true } : {}),
    });
  }
  if (told.stage === 'bytecode') return alteredScript('script.bytecode');
  if (told.stage === 'syntax')
    return new ScriptError('SyntaxError', `The script cannot be compiled: ${told.message}${where}.`, details);
  if (isImport(told))
    return new ScriptError('ImportError', importSentence(told, environment, where), {
      ...details,
      ...(told.module ? { module: told.module } : {}),
    });
  if (isRefusal(told))
    return new ScriptError('SecurityError', `The sandbox refused it: ${what}${where}.`, details);
  if (told.type === 'AssertionError')
    return new ScriptError('RuntimeError', `${told.message || 'An assertion failed'}${where}`, details);
  return new ScriptError('RuntimeError', `${what}${where}`, details);
}

const isImport = ({ isMissing, type }: ToldError) => isMissing === true || type === 'ImportError';

const isRefusal = ({ errno, type }: ToldError) =>
  (errno !== null && errno !== undefined && REFUSALS.has(errno)) || type === 'gaierror';

function importSentence(told: ToldError, environment: string | null, where: string): string {
  const { module, isMissing, message } = told;
  if (!isMissing || !module) return `ImportError: ${message}${where}.`;
  const place = environment ?? 'default';
  const name = distributionOf(module);
  if (place.startsWith('inline-'))
    return `The module "${module}"${where} is not among the dependencies of the script; add ${name ?? 'its package'} to its "# /// script" block.`;
  const absent = `The module "${module}"${where} is not installed in the environment "${place}"`;
  return name === null
    ? `${absent}: if it is a file of yours, place it beside the script; if it is a package, install it with: pungi env install ${place} PACKAGE`
    : `${absent}; install it with: pungi env install ${place} ${name}`;
}

function detailsOf({ line, column, text, type, traceback, ...told }: ToldError): ErrorDetails {
  return {
    ...(line ? { line } : {}),
    ...(column ? { column } : {}),
    ...(text ? { text } : {}),
    ...(type ? { exception: type } : {}),
    ...(traceback ? { traceback } : {}),
    ...('expected' in told ? { expected: told.expected } : {}),
    ...('actual' in told ? { actual: told.actual } : {}),
  };
}

/** How the process ended, where the script could not tell it itself. */
export function errorOfVerdict(verdict: Exclude<Verdict, { kind: 'ok' }>): ScriptError {
  const { message } = verdict;
  switch (verdict.kind) {
    case 'timed-out':
    case 'cpu-exceeded':
      return new ScriptError('TimeoutError', message, { timeoutMs: verdict.limitMs });
    case 'memory-exceeded':
      return new ScriptError('MemoryError', message, { limitMb: verdict.limitMb });
    case 'python-error': {
      // Its line is one of ours, not of the script.
      const { type, message: said } = verdict.exception;
      return new ScriptError('RuntimeError', [type, said].filter(Boolean).join(': '), { exception: type });
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

/** What kept the engine from running anything. */
export function errorThrown(thrown: unknown): ScriptError {
  if (thrown instanceof ScriptError) return thrown;
  const { code, message, details } = PungiError.from(thrown);
  if (code !== 'INTERPRETER_NOT_FOUND') return new ScriptError('EngineError', message, {}, thrown);
  const looked = (details['looked'] as string[] | undefined) ?? [];
  return new ScriptError('InterpreterNotFound', message, { looked }, thrown);
}

/** The script ended its process behind everybody's back, so what it found is lost. */
export const unheard = ({ value }: Outcome): ScriptError =>
  value === null
    ? new ScriptError(
        'ProcessError',
        'The script ended its process by itself, so that what it found is not known; use sys.exit instead.',
        { code: 0 },
      )
    : new ScriptError(
        'EngineError',
        `What the script found cannot be read: ${(value.note ?? 'it is no plain data').replace(/\.$/, '')}.`,
      );
