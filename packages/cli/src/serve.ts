import { statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { checkSettings, Pungi } from '@pungi/core';
import { fileProblem, type Logger, PACKAGE_ROOT, PungiError, styleFor } from '@pungi/core/base';
import { type Config, toolsFolder } from '@pungi/core/config';
import { assertLoopback } from '@pungi/server';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openLog } from './act.js';
import { connectCluster } from './cluster-settings.js';
import { ALL_OPTIONS, addConfigFlags, parserOf, readConfig } from './config-flags.js';
import { areShareable } from './shared-server/same-settings.js';
import { CommandDoor } from './shared-server/server.js';
import { onInterrupt } from './terminal.js';

const HELP = `
Over stdio, standard output carries the protocol and nothing else; logs go to standard error or
--log-file. Over HTTP, the server answers on loopback only, at /mcp. Ctrl-C, SIGTERM or the end of
standard input (stdio) end it. With --cluster, code runs on the machines that "pungi worker" was
started on, and the credentials are those of a front end.`;

export function serveCommand(end: (status: number) => void): Command {
  const command = new Command('serve')
    .description('serve MCP clients, over stdio unless --http is given')
    .addOption(
      new Option(
        '--http [host:port]',
        'serve over HTTP (default: 127.0.0.1:8765, or the next free port)',
      ).argParser(parseListenAddress),
    )
    .addOption(
      new Option('--tools <folder>', 'offer the scripts of this folder as tools').argParser(
        parserOf('toolsDir'),
      ),
    )
    .option('--quiet', 'over HTTP: do not print the address and the client configuration');
  addConfigFlags(command, ALL_OPTIONS).addHelpText('after', HELP);
  return command.action(async (parsed) => end(await serve(parsed)));
}

async function serve(parsed: Record<string, unknown>): Promise<number> {
  const config = readServerConfig({ ...parsed, toolsDir: parsed['tools'] ?? parsed['toolsDir'] });
  refuseFile(toolsFolder(config));
  checkSettings(config);
  const logger = openLog(config);
  if (typeof parsed['http'] === 'object') assertLoopback((parsed['http'] as ListenAddress).host);
  const interrupted = new Promise<void>((resolve) => onInterrupt(() => resolve()));
  const { http, quiet } = parsed;
  // A client waits for the first answer: the protocol is loaded before the engine's processes compete with it.
  const startStdio = http === undefined ? await loadStdio() : undefined;
  const backend = await connectCluster(config, logger);
  const pungi = Pungi.start(startStdio ? config : withSlotForOthers(config), logger, 'server', backend);
  const commands = new CommandDoor(pungi, logger);
  if (mayShare(config, parsed)) commands.open(config);
  try {
    if (startStdio) await serveStdio(pungi, startStdio, logger, interrupted);
    else await serveHttp(pungi, { address: http as never, quiet: quiet === true, logger, interrupted });
    return 0;
  } finally {
    commands.stop();
    await pungi.close();
    await commands.settled();
  }
}

const mayShare = (config: Config, { config: file }: Record<string, unknown>) =>
  areShareable(config, { hasFile: file !== undefined || Boolean(process.env['PUNGI_CONFIG']) });

/** On a terminal, log lines are formatted for people. */
function readServerConfig(parsed: Record<string, unknown>): Config {
  const config = readConfig(parsed);
  const isForPerson = config.logFile === undefined && process.stderr.isTTY;
  if (!isForPerson && config.cluster === undefined) return config;
  return readConfig(parsed, {
    ...(isForPerson && { logFormat: 'text' }),
    ...(config.cluster !== undefined && CLUSTER_DEFAULTS),
  });
}

/** Workers have limits of their own; a front end only waits for them. */
const CLUSTER_DEFAULTS = { maxConcurrentExecutions: 256, maxQueuedExecutions: 1000 };

/** Over HTTP there may be other clients, so one client cannot take every slot. */
function withSlotForOthers(config: Config): Config {
  const allButOne = Math.max(1, config.maxConcurrentExecutions - 1);
  return { ...config, maxConcurrentPerClient: config.maxConcurrentPerClient ?? allButOne };
}

async function loadStdio() {
  const { startStdio } = await import('@pungi/server');
  return startStdio;
}

async function serveStdio(
  pungi: Pungi,
  startStdio: Awaited<ReturnType<typeof loadStdio>>,
  logger: Logger,
  interrupted: Promise<void>,
): Promise<void> {
  const door = startStdio(pungi, { logger });
  // The server runs even without a sandbox: clients hide stderr but show the errors of tools.
  pungi.ready().catch((error: unknown) => {
    const { code, message } = PungiError.from(error);
    if (code !== 'CANCELLED') logger.error('Python cannot run', { problem: message });
  });
  await Promise.race([door.closed, interrupted]);
  await door.close();
}

/** The folder may be created later; a file in its place is a mistake that clients would not see. */
function refuseFile(folder: string | null): void {
  if (folder === null) return;
  const refuse = (why: string) => new PungiError('CONFIGURATION_ERROR', `The tools folder ${folder} ${why}.`);
  let isFolder: boolean | undefined;
  try {
    isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory();
  } catch (error) {
    throw refuse(`cannot be used: ${fileProblem(error)}; name another with TOOLS_DIR`);
  }
  if (isFolder === false) throw refuse('is a file: name the folder that contains it');
}

interface HttpServing {
  /** true: the user named no address. */
  address: ListenAddress | true;
  quiet: boolean;
  logger: Logger;
  interrupted: Promise<void>;
}

/** Serves until interrupted, and prints how to connect. */
async function serveHttp(pungi: Pungi, { address, quiet, logger, interrupted }: HttpServing): Promise<void> {
  const print = quiet ? () => {} : (text: string) => process.stderr.write(`${text}\n`);
  const { door, instead } = await openDoor(pungi, address, logger);
  try {
    if (instead !== null) logger.info(instead, { url: door.url });
    const ready = pungi.ready();
    // Without an interpreter or a sandbox there is nothing to serve: the error ends the start. Workers may come later.
    const started = await Promise.race([
      ready.then(() => 'ready'),
      interrupted.then(() => 'stopped'),
      ...(pungi.config.cluster === undefined ? [] : [pause(WORKERS_MS, 'alone', { ref: false })]),
    ]);
    if (started === 'stopped') return;
    print(welcome(door.url, pungi.config.cluster !== undefined));
    if (instead !== null) print(`${instead}\n`);
    if (started === 'alone') print(NO_WORKER);
    await Promise.race([ready.then(async () => print(await isolationLine(pungi))), interrupted]);
    await interrupted;
  } finally {
    await door.close();
  }
}

async function openDoor(pungi: Pungi, address: ListenAddress | true, logger: Logger) {
  const { startHttp } = await import('@pungi/server');
  const { host, port } = address === true ? DEFAULT_ADDRESS : address;
  for (let offset = 0; ; offset += 1) {
    try {
      const door = await startHttp(pungi, { host, port: port + offset, logger });
      return { door, instead: offset === 0 ? null : chosenInstead(port, port + offset) };
    } catch (error) {
      if (!(await portIsTaken(host, port + offset))) throw error;
      if (address === true && offset < PORTS_TO_TRY) continue;
      const what = `Port ${port + offset} of ${host} is in use by another program`;
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `${what}: stop it, or choose another port with --http ${host}:PORT.`,
      );
    }
  }
}

const PORTS_TO_TRY = 20;

const chosenInstead = (taken: number, port: number) =>
  `Port ${taken} is in use by another program, so port ${port} is used; choose one with --http 127.0.0.1:PORT.`;

function welcome(url: string, isInCluster: boolean): string {
  const indented = (value: unknown) => JSON.stringify(value, null, 2).replace(/^/gm, '  ');
  return `
${bold('Pungi')} serves MCP at ${bold(url)}

To connect over HTTP, paste into your client's configuration:
${indented(httpClientConfiguration(url))}
${isInCluster ? '' : `\nOr let the client start Pungi itself, over stdio:\n${indented(stdioClientConfiguration())}\n`}`;
}

async function isolationLine(pungi: Pungi): Promise<string> {
  const { isolation, pythonVersion } = await pungi.health();
  const warning = isolation.warning === null ? '' : `\n${isolation.warning}`;
  return `${pythonVersion} is ready; isolation tier: ${bold(String(isolation.tier))}${warning}\nCtrl-C stops the server.`;
}

/** Workers that run are heard within this. */
const WORKERS_MS = 2000;
const NO_WORKER = 'No worker is connected yet: start one with pungi worker. Background runs wait for it.\n';

const bold = (text: string) => styleFor(process.stderr)('bold', text);

const MAIN = join(PACKAGE_ROOT, 'dist/bundle/main.js');

/** The configuration for an MCP client that starts its servers itself. */
const stdioClientConfiguration = () => ({
  mcpServers: { pungi: { command: process.execPath, args: [MAIN, 'serve'] } },
});

/** The configuration for an MCP client that connects to this server. */
const httpClientConfiguration = (url: string) => ({ mcpServers: { pungi: { type: 'http', url } } });

/** Checks after a failure whether another program listens on the port, so that the error names the reason. */
function portIsTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    probe.listen(port, host, () => probe.close(() => resolve(false)));
  });
}

interface ListenAddress {
  host: string;
  port: number;
}

const DEFAULT_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 8765 };

/** Parses `8765`, `:8765`, `localhost:8765` or `[::1]:8765`; port 0 takes a free one. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:(?<host>[^:[\]]+|\[[0-9a-f:.]+\])?:)?(?<port>\d+)$/i.exec(text);
  const port = Number(match?.groups?.['port']);
  if (match === null || port > 65_535) {
    throw new InvalidArgumentError('must be an address such as 127.0.0.1:8765, [::1]:8765 or 8765');
  }
  return { host: match.groups?.['host']?.replace(/^\[|\]$/g, '') ?? DEFAULT_ADDRESS.host, port };
}
