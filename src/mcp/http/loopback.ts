import { PungiError } from '../../base/errors.js';

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

/** Anyone who reaches the port can run code, so without authentication only this machine may. */
export function assertLoopback(host: string): void {
  if (LOOPBACK.includes(host)) return;
  throw new PungiError(
    'CONFIGURATION_ERROR',
    `Refusing to listen on ${host}: until authentication exists, MCP over HTTP binds only to ${LOOPBACK.join(', ')}. ` +
      'To reach it from elsewhere, forward the port, for example with ssh -L.',
    { host, allowed: LOOPBACK },
  );
}

/** The host as it stands in a URL. */
export const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host);
