import { connect, errors, type NatsConnection, nkeyAuthenticator } from '@nats-io/transport-node';
import { type Logger, PungiError, within } from '@pungi/core/base';
import type { NatsCredentials } from './credentials.js';

export interface ClusterAddress {
  /** One or several, separated by commas. */
  url: string;
  /** The first part of every subject after `pungi`: clusters can share a NATS server. */
  name: string;
}

const CONNECT_MS = 5000;
const RECONNECT_MS = 100;
const LEAVE_MS = 5000;
/** A server that does not answer is noticed after two of these. */
const PING_MS = 1000;

/** Connects to NATS, and again whenever the connection is lost. Throws CONFIGURATION_ERROR if nobody answers. */
export async function openConnection(
  { url }: ClusterAddress,
  name: string,
  { seed, caFile, inboxPrefix }: NatsCredentials,
  logger: Logger,
): Promise<NatsConnection> {
  const servers = url.split(',').map((one) => one.trim());
  // A server that offers no TLS is refused then: somebody between may have removed the offer.
  const needsTls = caFile !== undefined || servers.some((server) => server.startsWith('tls://'));
  try {
    const connection = await connect({
      servers,
      name,
      timeout: CONNECT_MS,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RECONNECT_MS,
      reconnectJitter: RECONNECT_MS,
      reconnectJitterTLS: RECONNECT_MS,
      pingInterval: PING_MS,
      maxPingOut: 2,
      ...(seed && { authenticator: nkeyAuthenticator(seed) }),
      ...(inboxPrefix !== undefined && { inboxPrefix }),
      ...(needsTls && { tls: caFile === undefined ? {} : { caFile } }),
    });
    void reportStatus(connection, logger);
    return connection;
  } catch (error) {
    const reason = (error as Error).message;
    throw new PungiError(
      'CONFIGURATION_ERROR',
      `Could not connect to NATS at ${servers.join(', ')}: ${reason}. Check --cluster and --creds.`,
      {},
      error,
    );
  }
}

async function reportStatus(connection: NatsConnection, logger: Logger): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type === 'disconnect') logger.error('The connection to NATS was lost; trying again');
    else if (status.type === 'reconnect') logger.info('Connected to NATS again');
    else if (status.type === 'error')
      logger.error('NATS reported an error', { reason: status.error.message });
  }
}

const UNANSWERED = [
  errors.TimeoutError,
  errors.RequestError,
  errors.ConnectionError,
  errors.ClosedConnectionError,
  errors.DrainingConnectionError,
];

/** Whether NATS did not answer, so that the same may succeed later. */
export function isUnanswered(error: unknown): boolean {
  const cause = error instanceof PungiError ? error.cause : error;
  return UNANSWERED.some((kind) => cause instanceof kind);
}

/** What a caller is told of an error of NATS. */
export const forCaller = (error: unknown): unknown =>
  error instanceof PungiError || !isUnanswered(error)
    ? error
    : new PungiError('SERVER_BUSY', 'NATS did not answer in time: try again shortly.', {}, error);

/** A store of NATS whose errors callers may see. */
export function forCallers<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(_, name) {
      const member: unknown = Reflect.get(store, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const answer: unknown = member.apply(store, args);
        if (!(answer instanceof Promise)) return answer;
        return answer.catch((error: unknown) => {
          throw forCaller(error);
        });
      };
    },
  });
}

/** Sends what is left and closes it. A server that does not answer is not waited for. */
export async function leave(connection: NatsConnection): Promise<void> {
  const drained = connection.drain().catch(() => {});
  await within(drained, LEAVE_MS);
  await connection.close();
}

/** The bytes of a message, without a copy. */
export const bytesOf = ({ data }: { data: Uint8Array }): Buffer =>
  Buffer.from(data.buffer, data.byteOffset, data.byteLength);
