import { statSync } from 'node:fs';
import { checkSettings, Pungi } from '@pungi/core';
import { type Logger, PungiError } from '@pungi/core/base';
import { type Config, toolsFolder } from '@pungi/core/config';
import { assertLoopback } from '@pungi/server';
import { Command, Option } from 'commander';
import { onInterrupt, openLog } from './act.js';
import { ALL_OPTIONS, addConfigFlags, parserOf, readConfig } from './config-flags.js';
import { type ListenAddress, parseListenAddress, serveHttp } from './serve-http.js';

const HELP = `
Over stdio, standard output carries the protocol and nothing else; logs go to standard error or
--log-file. Over HTTP, the server answers on loopback only, at /mcp. Ctrl-C, SIGTERM or the end of
standard input (stdio) end it.`;

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
  const pungi = Pungi.start(
    parsed['http'] === undefined ? config : withSlotForOthers(config),
    logger,
    'server',
  );
  try {
    const { http, quiet } = parsed;
    if (http === undefined) await serveStdio(pungi, logger, interrupted);
    else await serveHttp(pungi, { address: http as never, quiet: quiet === true, logger, interrupted });
    return 0;
  } finally {
    await pungi.close();
  }
}

/** On a terminal, log lines are formatted for people. */
function readServerConfig(parsed: Record<string, unknown>): Config {
  const config = readConfig(parsed);
  const isForPerson = config.logFile === undefined && process.stderr.isTTY;
  return isForPerson ? readConfig(parsed, { logFormat: 'text' }) : config;
}

/** Over HTTP there may be other clients, so one client cannot take every slot. */
function withSlotForOthers(config: Config): Config {
  const allButOne = Math.max(1, config.maxConcurrentExecutions - 1);
  return { ...config, maxConcurrentPerClient: config.maxConcurrentPerClient ?? allButOne };
}

async function serveStdio(pungi: Pungi, logger: Logger, interrupted: Promise<void>): Promise<void> {
  const { startStdio } = await import('@pungi/server');
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
  const found = folder === null ? undefined : statSync(folder, { throwIfNoEntry: false });
  if (folder === null || found === undefined || found.isDirectory()) return;
  throw new PungiError(
    'CONFIGURATION_ERROR',
    `The tools folder ${folder} is a file: name the folder that contains it.`,
  );
}
