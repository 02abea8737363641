import { basename } from 'node:path';
import { PungiError } from '../base/errors.js';
import type { Config } from '../config/schema.js';
import type { Limits, RequestedLimits } from '../contract/limits.js';
import { RunRequest } from '../contract/run.js';
import type { AdmittedRun } from '../engine/engine.js';
import { readScript } from './script-file.js';

/** The server's own limits, as configured. */
export function limitsOf(config: Config): Limits {
  return {
    timeoutMs: config.executionTimeoutMs,
    cpuMs: config.maxCpuMs,
    memoryMb: config.maxMemoryMb,
    processes: config.maxProcesses,
    openFiles: config.maxOpenFiles,
    diskMb: config.maxDiskMb,
    outputBytes: config.maxOutputBytes,
    outputHardBytes: config.maxOutputHardBytes,
  };
}

/** A request can only go below the ceiling. */
export function tighten(ceiling: Limits, wanted: RequestedLimits = {}): Limits {
  const names = Object.keys(ceiling) as (keyof Limits)[];
  return Object.fromEntries(
    names.map((name) => [name, Math.min(ceiling[name], wanted[name] ?? ceiling[name])]),
  ) as Limits;
}

/** A run that may be made, and where it is to be made. */
export interface Admitted extends AdmittedRun {
  venvName: string | undefined;
}

/** Decides whether a request may run, and with what. Throws INVALID_INPUT or DENIED with the reason. */
export async function admit(raw: unknown, config: Config): Promise<Admitted> {
  const request = parse(raw);
  const refused = Object.keys(request.env ?? {}).filter((name) => !config.allowedEnv.includes(name));
  if (refused.length > 0) {
    const message = `The variables ${refused.join(', ')} may not be set; the server allows ${config.allowedEnv.join(', ') || 'none'}.`;
    throw new PungiError('DENIED', message, { refused });
  }
  const limits = tighten(limitsOf(config), request.limits);
  checkFits(request, limits);
  const code = request.code ?? (await readScript(request.file!, config.scriptRoots));
  return {
    client: request.client ?? '',
    venvName: request.venvName,
    job: {
      code,
      filename: request.filename ?? (request.file === undefined ? 'main.py' : basename(request.file)),
      argv: request.argv ?? [],
      stdin: request.stdin ?? (request.inputData ?? []).map((line) => `${line}\n`).join(''),
      files: (request.files ?? []).map(({ path, text, base64 }) => ({
        path,
        base64: base64 ?? Buffer.from(text ?? '').toString('base64'),
      })),
      env: request.env ?? {},
      limits,
      variables: request.context === undefined ? {} : { context: request.context },
    },
  };
}

/** What is handed over must find room in the work folder, and no file can lie below another file. */
function checkFits({ files = [], stdin = '', inputData = [] }: RunRequest, { diskMb }: Limits): void {
  const paths = new Set(files.map(({ path }) => path));
  const below = [...paths].find((path) => parentsOf(path).some((parent) => paths.has(parent)));
  if (below !== undefined)
    throw new PungiError('INVALID_INPUT', `The file "${below}" lies below another file.`);
  if (paths.size < files.length) throw new PungiError('INVALID_INPUT', 'Two files have the same path.');
  const bytes = [...files.map(({ text, base64 }) => text ?? base64 ?? ''), stdin, ...inputData].reduce(
    (sum, text) => sum + Buffer.byteLength(text) + 1,
    0,
  );
  if (bytes > diskMb * 1024 * 1024) {
    throw new PungiError(
      'INVALID_INPUT',
      `The files and the input are larger than the ${diskMb} MB that the run may write.`,
    );
  }
}

const parentsOf = (path: string) =>
  path
    .split('/')
    .map((_, index, parts) => parts.slice(0, index).join('/'))
    .filter((parent) => parent !== '');

function parse(raw: unknown): RunRequest {
  const parsed = RunRequest.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) =>
    [issue.path.join('.'), issue.message].filter(Boolean).join(': '),
  );
  throw new PungiError('INVALID_INPUT', `The request is not valid: ${issues.join('; ')}.`, { issues });
}
