import { InvalidArgumentError } from 'commander';

export interface ListenAddress {
  host: string;
  port: number;
}

export const DEFAULT_ADDRESS: ListenAddress = { host: '127.0.0.1', port: 8765 };

/** `8765`, `:8765`, `localhost:8765`, `[::1]:8765`; port 0 takes any free one. */
export function parseListenAddress(text: string): ListenAddress {
  const match = /^(?:(?<host>[^:[\]]+|\[[0-9a-f:.]+\])?:)?(?<port>\d+)$/i.exec(text);
  const port = Number(match?.groups?.['port']);
  if (match === null || port > 65_535) {
    throw new InvalidArgumentError('must be an address such as 127.0.0.1:8765, [::1]:8765 or 8765');
  }
  return { host: match.groups?.['host']?.replace(/^\[|\]$/g, '') ?? DEFAULT_ADDRESS.host, port };
}
