import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { PungiError } from '../base/errors.js';

const run = promisify(execFile);

export const OLDEST_PYTHON = [3, 10] as const;

export interface Interpreter {
  /** The real executable, never a shim. */
  path: string;
  version: string;
}

const NAMES = ['python3', 'python', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];
const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];
const ASK = 'import sys; print(sys.executable); print("%d.%d.%d" % sys.version_info[:3])';

/** The interpreter asked for, or the first one that is new enough. */
export async function findInterpreter(
  wanted?: string,
  { env = process.env, signal }: { env?: NodeJS.ProcessEnv; signal?: AbortSignal } = {},
): Promise<Interpreter> {
  const looked: string[] = [];
  for (const candidate of wanted === undefined ? candidates(env) : [wanted]) {
    const found = await ask(candidate, env, signal);
    signal?.throwIfAborted();
    if (typeof found !== 'string') return found;
    looked.push(`${candidate} (${found})`);
  }
  const where = looked.length > 0 ? looked.join(', ') : 'the folders of PATH';
  throw new PungiError(
    'INTERPRETER_NOT_FOUND',
    `No Python ${OLDEST_PYTHON.join('.')} or newer was found; looked at ${where}. Install one, or name it with PUNGI_PYTHON.`,
    { looked },
  );
}

function candidates(env: NodeJS.ProcessEnv): string[] {
  const folders = [...(env['PATH'] ?? '').split(delimiter).filter(isAbsolute), ...USUAL_FOLDERS];
  const found = NAMES.flatMap((name) => [...new Set(folders)].map((folder) => join(folder, name))).filter(
    isExecutable,
  );
  return found;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The interpreter behind a command, or why it will not do. */
async function ask(
  command: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Interpreter | string> {
  try {
    const { stdout } = await run(command, ['-I', '-S', '-c', ASK], {
      timeout: 10_000,
      env,
      ...(signal && { signal }),
    });
    const [path = '', version = ''] = stdout.trim().split('\n');
    const [major = 0, minor = 0] = version.split('.').map(Number);
    if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) return `Python ${version}, too old`;
    return { path: isAbsolute(path) ? path : command, version };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    return code === 'ENOENT' ? 'not found' : code === 'EACCES' ? 'not executable' : 'does not run';
  }
}
