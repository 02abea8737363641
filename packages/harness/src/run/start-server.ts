import { realpathSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { homedir } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerUnderTest } from '@pungi/core/contract';
import { findProgram, ServerProcess } from '@pungi/core/processes';
import { ServerFault } from './server-fault.js';
import { endedFault } from './stdio-transport.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface StartSettings {
  environment: Environment;
  /** The specification's folder. */
  folder: string;
  /** An interpreter for the sandbox; undefined if there is none. */
  python: (() => Promise<string>) | undefined;
}

const INHERITED =
  process.platform === 'win32'
    ? ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA', 'LOCALAPPDATA', 'PATHEXT', 'COMSPEC']
    : ['PATH', 'HOME', 'LANG', 'TMPDIR'];

/** Starts the process of a server; throws a ServerFault with the reason if that fails. */
export async function startProcess(
  server: ServerUnderTest & { command: string },
  { environment, folder: own, python }: StartSettings,
): Promise<ServerProcess> {
  const folder = server.working_dir === undefined ? own : resolve(own, server.working_dir);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw cannot(server, `its working folder ${folder} does not exist`);
  const inherited = INHERITED.flatMap((name) =>
    environment[name] === undefined ? [] : [[name, environment[name]] as const],
  );
  const env = { ...Object.fromEntries(inherited), ...server.env };
  const { command, args } = server;
  if (!server.sandbox)
    return ServerProcess.start({ command, args, env, folder }).catch((error: Error) => {
      throw cannot(server, error.message);
    });
  if (python === undefined) throw cannot(server, 'it requires a sandbox, and there is none here');
  const program = findProgram(command, folder, env['PATH'] ?? '');
  if (program === undefined) throw cannot(server, 'there is no such program');
  const readable = [...new Set([program, ...args].flatMap((argument) => rootsOf(argument, folder)))];
  const jail = { python: await python(), readable };
  return ServerProcess.start({ command: program, args, env, folder, jail }).catch((error: Error) => {
    throw cannot(server, error.message);
  });
}

const cannot = ({ command = '' }: ServerUnderTest, why: string) =>
  new ServerFault('server', `Could not start the server with ${JSON.stringify(command)}: ${why}.`);

/** The paths that a program or a file argument needs to read: its package, its environment, or its folder. */
function rootsOf(argument: string, folder: string): string[] {
  const path = resolve(folder, argument);
  if (!(argument.includes('/') || argument.includes('.')) || !statSync(path, { throwIfNoEntry: false }))
    return [];
  return [path, realpathSync(path)].map((one) => {
    const modules = one.indexOf(`${sep}node_modules${sep}`);
    if (modules >= 0) return one.slice(0, modules + `${sep}node_modules`.length);
    const above = statSync(one).isDirectory() ? one : dirname(one);
    // Only the file itself is made readable if its folder contains too much.
    return ['/', homedir()].includes(above) ? one : above;
  });
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done, failed) => probe.once('error', failed).listen(0, '127.0.0.1', done));
  const { port } = probe.address() as { port: number };
  await new Promise((done) => probe.close(done));
  return port;
}

const POLL_MS = 20;

/** Waits until something listens at the address, or the server has ended. */
export async function untilListening(url: URL, server: ServerProcess, signal: AbortSignal): Promise<void> {
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  while (!(await accepts(url.hostname.replace(/^\[|\]$/g, ''), port))) {
    if (server.end !== undefined) throw endedFault(server.end);
    if (signal.aborted) throw signal.reason;
    await pause(POLL_MS);
  }
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect({ host, port });
    const end = (is: boolean) => {
      socket.destroy();
      settle(is);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}
