/**
 * Who asks. The door makes it from what it knows itself: the connection, the token, what a client calls itself. It travels
 * beside the request, never in it, so that no client can write another's. Queue, limits and audit trail use it.
 */
export interface Caller {
  /** The client's name and version, such as "claude-code 2.0.1"; "" for a program that uses the library. */
  readonly client: string;
  /** The id of the token that the client showed, if the door asks for one. */
  readonly token: string | null;
  /** What the token allows. */
  readonly scopes: readonly string[];
  /** The connection, or the client where it has none of its own. The queue takes turns between connections. */
  readonly connection: string;
}

const MOST_CHARACTERS = 200;

/** Completes what is known of a caller. */
export function callerOf({
  client = '',
  token = null,
  scopes = [],
  connection,
}: Partial<Caller> = {}): Caller {
  const name = client.slice(0, MOST_CHARACTERS);
  return { client: name, token, scopes, connection: connection?.slice(0, MOST_CHARACTERS) ?? name };
}

/** The command line. */
export const CLI: Caller = callerOf({ client: 'cli' });

/** Pungi itself, in the audit trail. */
export const SELF: Caller = callerOf({ client: 'pungi' });
