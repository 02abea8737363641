import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
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
const EXTENSION = process.platform === 'win32' ? '.exe' : '';
const USUAL_FOLDERS = ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];
/** packages/core/python/__main__.py says the same. */
const ASK =
  'import sys; print(sys.executable); print("%d.%d.%d" % sys.version_info[:3]); ' +
  'print(sys.implementation.name + getattr(sys, "abiflags", ""), sys.version_info[3])';

/** Returns the requested interpreter, or the first one that is new enough. */
export async function findInterpreter(
  wanted?: string,
  { env = process.env, signal }: { env?: NodeJS.ProcessEnv; signal?: AbortSignal } = {},
): Promise<Interpreter> {
  const looked: string[] = [];
  for (const candidate of wanted === undefined ? candidates(env) : [wanted]) {
    const found = await (takeAnswer(candidate, env, signal) ?? ask(candidate, env, signal));
    signal?.throwIfAborted();
    if (typeof found !== 'string') return { path: found.path, version: found.version };
    looked.push(`${candidate} (${found})`);
  }
  const where = looked.length > 0 ? looked.join(', ') : 'the folders of PATH';
  throw new PungiError(
    'INTERPRETER_NOT_FOUND',
    `No Python ${OLDEST_PYTHON.join('.')} or newer was found; looked at ${where}. Install one, or name it with PUNGI_PYTHON.`,
    { looked },
  );
}

/** Returns the interpreter that `findInterpreter` asks first. */
export const firstCandidate = (wanted: string | undefined, env: NodeJS.ProcessEnv): string | undefined =>
  wanted ?? candidates(env)[0];

/** A question to an interpreter whose answer nobody has waited for yet. */
export interface AskedAhead {
  command: string;
  env: NodeJS.ProcessEnv;
  answer: Promise<Answer | string>;
  stop: AbortController;
}

let askedAhead: AskedAhead | undefined;

/** Asks an interpreter before `findInterpreter` does. `introduction`: what it says by itself, undefined if it ended instead. */
export function askAhead(
  command: string,
  env: NodeJS.ProcessEnv,
  introduction?: Promise<string | undefined>,
): AskedAhead {
  const stop = new AbortController();
  const answer = async () => {
    const said = await introduction;
    return said === undefined ? ask(command, env, stop.signal) : readAnswer(said, command);
  };
  return { command, env, answer: answer(), stop };
}

/** `findInterpreter` waits for this answer instead of asking. */
export function adoptAnswer(asked: AskedAhead | undefined): void {
  askedAhead = asked;
}

function takeAnswer(
  command: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<Answer | string> | undefined {
  if (askedAhead?.command !== command || askedAhead.env !== env) return undefined;
  const { answer, stop } = askedAhead;
  askedAhead = undefined;
  signal?.addEventListener('abort', () => stop.abort(), { once: true });
  return answer;
}

function candidates(env: NodeJS.ProcessEnv): string[] {
  return NAMES.flatMap((name) => folders(env).map((folder) => join(folder, name + EXTENSION))).filter(
    isExecutable,
  );
}

const folders = (env: NodeJS.ProcessEnv) => [
  ...new Set([...(env['PATH'] ?? '').split(delimiter).filter(isAbsolute), ...USUAL_FOLDERS]),
];

/** Lists the interpreters of this machine that are new enough, newest first; those that do not run are left out. */
export async function listInterpreters({
  env = process.env,
  signal,
}: {
  env?: NodeJS.ProcessEnv;
  signal?: AbortSignal;
} = {}): Promise<Interpreter[]> {
  const answers = await Promise.all(allCandidates(env).map((candidate) => ask(candidate, env, signal)));
  signal?.throwIfAborted();
  const distinct = new Map<string, Answer>();
  for (const answer of answers) {
    // Wheels are built for plain CPython: PyPy, debug and free-threaded builds would find few of them.
    if (typeof answer === 'string' || answer.build !== 'cpython') continue;
    const key = `${answer.version} ${realPath(answer.path)}`;
    if (!distinct.has(key)) distinct.set(key, answer);
  }
  return [...distinct.values()].sort(compareAnswers).map(({ path, version }) => ({ path, version }));
}

function allCandidates(env: NodeJS.ProcessEnv): string[] {
  const home = env['HOME'] ?? homedir();
  const pyenv = env['PYENV_ROOT'] ?? join(home, '.pyenv');
  const uv =
    env['UV_PYTHON_INSTALL_DIR'] ??
    join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'uv', 'python');
  const kept = [join(pyenv, 'versions'), uv].flatMap((folder) =>
    namesIn(folder).map((name) => join(folder, name, 'bin')),
  );
  // A shim of pyenv costs a shell, and the interpreter behind it is listed itself.
  const places = [...folders(env).filter((folder) => folder !== join(pyenv, 'shims')), ...kept];
  const byProgram = new Map<string, string>();
  for (const folder of places) {
    // Versioned names first: a system upgrade does not change their target.
    for (const name of namesIn(folder).filter(isPythonName).sort().reverse()) {
      const path = outsideVenv(join(folder, name));
      if (path === undefined) continue;
      const real = realPath(path);
      // A program with another name may be a launcher that depends on the name it was called with.
      const program = isPythonName(basename(real)) ? real : path;
      if (isExecutable(path) && !byProgram.has(program)) byProgram.set(program, path);
    }
  }
  return [...byProgram.values()];
}

export const isPythonName = (name: string): boolean => /^python(?:3(?:\.\d+)?)?$/.test(name);

/** Returns the base interpreter of an activated virtual environment, which has its own packages. */
function outsideVenv(path: string): string | undefined {
  return [path, realPath(path)].find((place) => !existsSync(join(dirname(dirname(place)), 'pyvenv.cfg')));
}

/** Sorts final releases first, newest first. */
function compareAnswers(one: Answer, other: Answer): number {
  if (one.isFinal !== other.isFinal) return one.isFinal ? -1 : 1;
  return other.version.localeCompare(one.version, 'en', { numeric: true });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface Answer extends Interpreter {
  /** `cpython`, or another name for another implementation or build. */
  build: string;
  isFinal: boolean;
}

/** Returns the interpreter behind a command, or why it is not suitable. */
async function ask(command: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<Answer | string> {
  try {
    const { stdout } = await run(command, ['-I', '-S', '-c', ASK], {
      timeout: 10_000,
      env,
      ...(signal && { signal }),
    });
    return readAnswer(stdout, command);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'EMFILE' || code === 'ENFILE') return 'cannot be asked, too many files are open';
    return code === 'ENOENT' ? 'not found' : code === 'EACCES' ? 'not executable' : 'does not run';
  }
}

function readAnswer(said: string, command: string): Answer | string {
  const [path = '', version = '', build = ''] = said.trim().split('\n');
  const [kind = '', level = ''] = build.split(' ');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major !== OLDEST_PYTHON[0] || minor < OLDEST_PYTHON[1]) return `Python ${version}, too old`;
  return { path: isAbsolute(path) ? path : command, version, build: kind, isFinal: level === 'final' };
}
