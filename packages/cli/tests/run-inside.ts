import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runCommandLine } from '../src/commands.js';
import type { Ended } from './pungi.js';

interface Surroundings {
  env: Record<string, string>;
  cwd: string;
  input: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command as the program does, without a process of its own. One at a time: the command gets this process's streams,
 * environment and folder, and there is one of each.
 */
export function runInside(args: string[], surroundings: Surroundings): Promise<Ended> {
  const ended = last.then(() => runAlone(args, surroundings));
  last = ended.catch(() => {});
  return ended;
}

async function runAlone(args: string[], { env, cwd, input }: Surroundings): Promise<Ended> {
  const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  streams.stdin.end(input);
  const [stdout, stderr] = [text(streams.stdout), text(streams.stderr)];
  const before = {
    env: { ...process.env },
    cwd: process.cwd(),
    streams: Object.fromEntries(NAMES.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)!])),
  };
  for (const name of NAMES)
    Object.defineProperty(process, name, { value: streams[name], configurable: true });
  try {
    process.chdir(cwd);
    replaceEnvironment(env);
    const status = await runCommandLine(args);
    streams.stdout.end();
    streams.stderr.end();
    return { status, stdout: await stdout, stderr: await stderr };
  } finally {
    replaceEnvironment(before.env);
    process.chdir(before.cwd);
    Object.defineProperties(process, before.streams);
  }
}

const NAMES = ['stdin', 'stdout', 'stderr'] as const;

/** Not by another object: libraries hold on to this one. */
function replaceEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
}
