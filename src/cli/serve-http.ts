import { PungiError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { styleFor } from '../base/terminal.js';
import type { Pungi } from '../pungi.js';
import { httpClientConfiguration, stdioClientConfiguration } from './client-configuration.js';
import { DEFAULT_ADDRESS, type ListenAddress } from './listen-address.js';
import { portIsTaken } from './port-taken.js';

interface HttpServing {
  /** true: the person named no address. */
  address: ListenAddress | true;
  quiet: boolean;
  logger: Logger;
  interrupted: Promise<void>;
}

/** Serves until interrupted, and tells the person at the terminal how to connect. */
export async function serveHttp(
  pungi: Pungi,
  { address, quiet, logger, interrupted }: HttpServing,
): Promise<void> {
  const say = quiet ? () => {} : (text: string) => process.stderr.write(`${text}\n`);
  const { door, instead } = await openDoor(pungi, address, logger);
  try {
    if (instead !== null) logger.info(instead, { url: door.url });
    // Without an interpreter or a sandbox there is nothing to serve: the sentence that says so ends the start.
    const stopped = await Promise.race([pungi.ready(), interrupted.then(() => true)]);
    if (stopped === true) return;
    say(welcome(door.url));
    if (instead !== null) say(`${instead}\n`);
    say(await isolationLine(pungi));
    await interrupted;
  } finally {
    await door.close();
  }
}

async function openDoor(pungi: Pungi, address: ListenAddress | true, logger: Logger) {
  const { startHttp } = await import('../mcp/http.js');
  const { host, port } = address === true ? DEFAULT_ADDRESS : address;
  for (let offset = 0; ; offset += 1) {
    try {
      const door = await startHttp(pungi, { host, port: port + offset, logger });
      return { door, instead: offset === 0 ? null : chosenInstead(port, port + offset) };
    } catch (error) {
      if (!(await portIsTaken(host, port + offset))) throw error;
      if (address === true && offset < PORTS_TO_TRY) continue;
      const what = `Port ${port + offset} of ${host} is taken by another program`;
      throw new PungiError(
        'CONFIGURATION_ERROR',
        `${what}: end it, or choose another with --http ${host}:PORT.`,
      );
    }
  }
}

const PORTS_TO_TRY = 20;

const chosenInstead = (taken: number, port: number) =>
  `Port ${taken} is taken by another program, so port ${port} is used; name one with --http 127.0.0.1:PORT.`;

function welcome(url: string): string {
  const indented = (value: unknown) => JSON.stringify(value, null, 2).replace(/^/gm, '  ');
  return `
${bold('Pungi')} serves MCP at ${bold(url)}

To connect over HTTP, paste into your client's configuration:
${indented(httpClientConfiguration(url))}

Or let the client start Pungi itself, over stdio:
${indented(stdioClientConfiguration())}
`;
}

async function isolationLine(pungi: Pungi): Promise<string> {
  const { isolation, pythonVersion } = await pungi.health();
  const warning = isolation.warning === null ? '' : `\n${isolation.warning}`;
  return `${pythonVersion} is ready; isolation tier: ${bold(String(isolation.tier))}${warning}\nCtrl-C ends the server.`;
}

const bold = (text: string) => styleFor(process.stderr)('bold', text);
