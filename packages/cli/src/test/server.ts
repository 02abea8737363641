import { dirname } from 'node:path';
import { PungiError, printable, similarName } from '@pungi/core/base';
import { ServerUnderTest } from '@pungi/core/contract';
import { findInterpreter } from '@pungi/core/processes';
import {
  type Connection,
  connectServer,
  type JsonMap,
  type LoadedSpecification,
  nameOf,
  ServerFault,
  startProblem,
} from '@pungi/harness';
import type { Answer, CommandContext } from '../act.js';
import { readConfig } from '../config-flags.js';
import { FAILED, type ServerFlags } from './flags.js';
import { faultLine, loadSpecs } from './load-specs.js';

/** A server to connect to. */
export interface Target {
  server: ServerUnderTest;
  /** The folder it is started in. */
  folder: string;
  /** The specification it comes from, if any. */
  loaded?: LoadedSpecification;
}

function targetOf(argv: readonly string[], flags: ServerFlags): Target {
  const given = [argv.length > 0, flags.url !== undefined, flags.spec !== undefined].filter(Boolean).length;
  if (given !== 1)
    throw new PungiError(
      'INVALID_INPUT',
      given === 0
        ? 'Name a server: "-- COMMAND …" to start one, --url for a running one, or --spec for the one of a specification.'
        : 'Name one server: a command, --url or --spec, not several.',
    );
  if (flags.spec !== undefined) return ofSpecification(flags.spec, flags);
  const [command, ...args] = argv;
  const { url, serverEnv = {}, header = {}, protocol = 'auto', sandbox = false } = flags;
  if (url !== undefined) addressOf(url);
  const server = ServerUnderTest.parse({
    ...(command === undefined ? { transport: 'http', url } : { command, args }),
    env: serverEnv,
    headers: header,
    protocol,
    sandbox,
  });
  return { server, folder: process.cwd() };
}

/** Parses the address of a server. */
export function addressOf(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address?.protocol === 'http:' || address?.protocol === 'https:') return address;
  throw new PungiError(
    'INVALID_INPUT',
    `--url ${url} is not the address of a server: expected http://HOST:PORT/PATH, such as http://127.0.0.1:3000/mcp.`,
  );
}

function ofSpecification(path: string, { serverEnv, header, protocol, sandbox }: ServerFlags): Target {
  const { specifications, faults } = loadSpecs([path]);
  const [loaded] = specifications;
  const [fault] = faults;
  if (loaded === undefined)
    throw new PungiError(
      'INVALID_INPUT',
      `${fault === undefined ? path : faultLine(fault)}; see "pungi test validate".`,
    );
  const written = loaded.specification.server!;
  const server = {
    ...written,
    env: { ...written.env, ...serverEnv },
    headers: { ...written.headers, ...header },
    protocol: protocol ?? written.protocol,
    sandbox: sandbox ?? written.sandbox,
  };
  return { server, folder: dirname(loaded.file), loaded };
}

type Connect = () => Promise<Connection>;

const connector =
  ({ server, folder }: Target, flags: ServerFlags, signal: AbortSignal): Connect =>
  () =>
    connectServer(server, {
      environment: process.env,
      folder,
      signal,
      python: async () => (await findInterpreter(readConfig(flags).python)).path,
    });

/**
 * Connects to a server, uses it, and stops it. A server that cannot be reached is a failed answer, not an
 * exception.
 */
export async function withServer(
  argv: readonly string[],
  flags: ServerFlags,
  { steps: { signal } }: CommandContext,
  work: (connection: Connection, target: Target, connect: Connect) => Promise<Answer>,
): Promise<Answer> {
  const target = targetOf(argv, flags);
  const connect = connector(target, flags, signal);
  let connection: Connection | undefined;
  try {
    connection = await connect();
    return await work(connection, target, connect);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServerFault)) throw error;
    const message = startProblem(error);
    if (!flags.json) process.stderr.write(`pungi: ${printable(message)}\n`);
    return { json: { error: { code: 'SERVER_UNDER_TEST', message } }, text: '', status: FAILED };
  } finally {
    await connection?.close();
  }
}

/** Chooses the named tools, or by default those that may be called without asking. */
export function chooseTools(
  tools: readonly JsonMap[],
  names: readonly string[] | undefined,
  isHarmless: (tool: JsonMap) => boolean,
): { chosen: JsonMap[]; leftOut: string[] } {
  if (names === undefined) {
    const chosen = tools.filter(isHarmless);
    return { chosen, leftOut: tools.filter((tool) => !chosen.includes(tool)).map(nameOf) };
  }
  const known = tools.map(nameOf);
  const missing = names.find((name) => !known.includes(name));
  if (missing === undefined)
    return { chosen: tools.filter((tool) => names.includes(nameOf(tool))), leftOut: [] };
  const close = similarName(missing, known);
  const advice = close === undefined ? `it has ${known.join(', ') || 'none'}` : `did you mean ${close}?`;
  throw new PungiError('INVALID_INPUT', `The server has no tool ${missing}; ${advice}`);
}
