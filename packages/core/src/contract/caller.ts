/**
 * The caller of a request. The door (MCP server, command line or library) creates it from the connection and the
 * token. It travels beside the request, never in it, so that no client can claim to be another. Queue, limits and
 * audit trail use it.
 */
export interface Caller {
  /** The client's name and version, such as "claude-code 2.0.1"; "" for a program that uses the library. */
  readonly client: string;
  /** The id of the client's token, if the door requires one. */
  readonly token: string | null;
  /** What the token allows. */
  readonly scopes: readonly string[];
  /** The connection id, or the client name if there is none. The queue is fair between connections. */
  readonly connection: string;
}

const MOST_CHARACTERS = 200;

/** Fills in the missing fields of a caller. */
export function callerOf({
  client = '',
  token = null,
  scopes = [],
  connection,
}: Partial<Caller> = {}): Caller {
  const name = client.slice(0, MOST_CHARACTERS);
  return { client: name, token, scopes, connection: connection?.slice(0, MOST_CHARACTERS) ?? name };
}

/**
 * The owner of sessions, files and outputs: a token, or without tokens the name of a client. It is not the connection: after a
 * reconnect, and from a subagent, the same owner is asking.
 */
export const ownerOf = ({ client, token }: Caller): string =>
  token === null ? `client ${client}` : `token ${token}`;

/** The command line. */
export const CLI: Caller = callerOf({ client: 'cli' });

/** Pungi itself, in the audit trail. */
export const SELF: Caller = callerOf({ client: 'pungi' });
