import { type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { RUNS_ALL } from '../../../tests/support/long-tests.js';
import { MAIN } from '../../../tests/support/main.js';
import { ownFolders } from '../../../tests/support/own-folders.js';
import { findInterpreter } from '../../core/src/sandbox/interpreter.js';
import { runInside } from './run-inside.js';

const ON_TERMINAL = resolve(import.meta.dirname, 'fixtures/on_terminal.py');
/** Environments of whoever runs the tests are not the tests' own. */
const NO_ENVIRONMENTS = join(tmpdir(), 'pungi-tests-have-no-environments');
const { path: python } = await findInterpreter();

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcessByStdio<Writable, Readable, Readable>;
  ended: Promise<Ended>;
  /** Resolves once the stream has shown the text; rejects if the program ends before. */
  shows(stream: 'stdout' | 'stderr', text: string | RegExp): Promise<string>;
}

export interface Setting {
  env?: Record<string, string>;
  cwd?: string;
  /** On a terminal of its own, which shows both streams as stdout and types what is written to stdin. */
  terminal?: boolean;
  /** Of the real program. */
  user?: { uid: number; gid: number } | undefined;
  /** A command that executes the program, such as one that enters a namespace. */
  through?: string[];
  /** Another program than the one that people start. */
  main?: string | undefined;
}

/** The environment of a command: it holds no setting of Pungi's but those given. */
export function environmentOf(env: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env;
  // Tests run beside each other, and a server of one is not for the commands of another.
  const alone = { SHARE_SERVER: 'false' };
  const own = { VENVS_BASE_PATH: NO_ENVIRONMENTS, AUDIT: 'false', TOOLS_DIR: 'off', TERM: 'xterm', ...alone };
  return { PATH, HOME, ...ownFolders(), ...own, ...env };
}

/** Starts the real program. */
export function start(
  args: string[],
  { env = {}, cwd, terminal = false, user, through = [], main = MAIN }: Setting = {},
): Running {
  const { CHILD_COVERAGE } = process.env;
  const coverage = CHILD_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE: CHILD_COVERAGE };
  const program = [...through, process.execPath, main, ...args];
  const [command = '', ...rest] = terminal ? [python, ON_TERMINAL, ...program] : program;
  const child = spawn(command, rest, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: environmentOf({ ...coverage, ...env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...user,
  });
  const seen = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      seen[stream] += text;
    });
  }
  child.stdin.on('error', () => {});
  const ended = new Promise<Ended>((done) => child.once('close', (status) => done({ status, ...seen })));
  const shows: Running['shows'] = (stream, text) =>
    new Promise((resolve, reject) => {
      const look = () => {
        const found = typeof text === 'string' ? seen[stream].includes(text) : text.test(seen[stream]);
        if (found) resolve(seen[stream]);
      };
      child[stream].on('data', look);
      look();
      void ended.then((end) => reject(new Error(`ended before showing ${text}: ${JSON.stringify(end)}`)));
    });
  return { child, ended, shows };
}

interface Given extends Setting {
  input?: string;
}

/**
 * Runs a command to its end, with this text on its standard input. Where people wait for the tests it is run in this process,
 * unless it is to be on a terminal.
 */
export async function pungi(args: string[], { terminal = false, ...given }: Given = {}): Promise<Ended> {
  if (terminal || RUNS_ALL) return program(args, { terminal, ...given });
  const { env = {}, cwd = process.cwd(), input = '' } = given;
  // Temporary files of the tests go with the tests.
  return runInside(args, { env: environmentOf({ TMPDIR: tmpdir(), ...env }), cwd, input });
}

/** Runs the real program to its end, with this text on its standard input. */
export async function program(args: string[], { input = '', ...setting }: Given = {}): Promise<Ended> {
  const { child, ended } = start(args, setting);
  child.stdin.end(input);
  return ended;
}

/** Runs the real program to its end, with its standard output and standard error in these files; returns its status. */
export async function programToFiles(
  args: string[],
  paths: readonly [string, string],
  { env = {}, cwd = process.cwd() }: Setting = {},
): Promise<number | null> {
  const [out, err] = paths.map((path) => openSync(path, 'w'));
  const stdio = ['ignore', out!, err!] satisfies StdioOptions;
  const child = spawn(process.execPath, [MAIN, ...args], { stdio, env: environmentOf(env), cwd });
  for (const fd of [out!, err!]) closeSync(fd);
  return new Promise((done) => child.once('close', done));
}

/** Every process below this one, as the kernel sees it now, marked so that a reused number is not mistaken. */
export function descendants(pid: number): string[] {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = processStat(name);
      return stat === undefined ? [] : [stat];
    });
  const below = (parent: number): typeof stats =>
    stats.filter((stat) => stat.parent === parent).flatMap((stat) => [stat, ...below(stat.pid)]);
  return below(pid).map(({ pid, started }) => `${pid}@${started}`);
}

/** A zombie is not alive: it waits for whoever adopted it to take note. */
export function isAlive(process: string): boolean {
  const [pid = '', started] = process.split('@');
  const stat = processStat(pid);
  return stat?.started === started && stat?.state !== 'Z';
}

interface ProcessStat {
  pid: number;
  state: string | undefined;
  parent: number;
  started: string;
}

function processStat(pid: string): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { pid: Number(pid), state: fields[0], parent: Number(fields[1]), started: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}
