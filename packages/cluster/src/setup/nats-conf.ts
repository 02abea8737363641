import type { Member } from '../credentials.js';
import { crossingsOf, onlyLooks, permissionsOf, renamed } from './permissions.js';

/** The files of a cluster's folder, besides one folder of credentials for each member. */
export const FILES = {
  /** The members, with their public keys: the other files follow from it. */
  cluster: 'cluster.json',
  conf: 'nats.conf',
  users: 'users.conf',
  store: 'jetstream',
  certificate: 'tls/server.pem',
  key: 'tls/server.key',
} as const;

/** A member with the public keys of its NATS user, and that it signs with. */
export type NatsUser = Member & { user: string; signing?: string | undefined };

/** The configuration of the NATS server, which is not written again. Paths are relative to the folder that the server starts in. */
export const natsConf = (name: string, { host, port }: { host: string; port: number }): string => `\
# The NATS server of the Pungi cluster "${name}". Start it in this folder: nats-server -c nats.conf
server_name: "pungi-${name}"
host: "${host}"
port: ${port}

# Larger inputs travel through the object store.
max_payload: 1MB
max_pending: 64MB
max_connections: 4096
# For each connection.
max_subscriptions: 4096

tls {
  cert_file: "${FILES.certificate}"
  key_file: "${FILES.key}"
  min_version: "1.3"
  timeout: 5
}

jetstream {
  store_dir: "${FILES.store}"
  max_memory_store: 64MB
  max_file_store: 10GB
}

# Who may connect, and publish and subscribe to what. "pungi cluster add" and "remove" write it.
include "${FILES.users}"
`;

/**
 * Everybody who may connect. There is nobody else: no password, no user without a key. The server sends answers of JetStream to any
 * subject that a request names, whatever its user may publish. So who only looks is in an account of its own: from there, no answer
 * gets into a store.
 */
export function usersConf(cluster: string, users: readonly NatsUser[]): string {
  const { inward, outward, services } = crossingsOf(cluster);
  const exports = [...outward.map((stream) => ({ stream })), ...services.map((service) => ({ service }))];
  const streams = (account: string, subjects: readonly string[]) =>
    subjects.map((subject) => ({ stream: { account, subject } }));
  const asked = services.map((subject) => ({ service: { account: STORING, subject }, to: renamed(subject) }));
  const mappings = Object.fromEntries(services.map((subject) => [subject, renamed(subject)]));
  return `\
# Written by "pungi cluster": changes are lost.
accounts {
  ${STORING} {
    jetstream: enabled
    exports: ${listed(exports.map((one) => ({ ...one, accounts: [LOOKING] })))}
    imports: ${listed(streams(LOOKING, inward))}
    users: [
${usersOf(users.filter(({ role }) => !onlyLooks(role)))}
    ]
  }
  ${LOOKING} {
    exports: ${listed(inward.map((stream) => ({ stream, accounts: [STORING] })))}
    imports: ${listed([...streams(STORING, outward), ...asked])}
    mappings: ${JSON.stringify(mappings)}
    users: [
${usersOf(users.filter(({ role }) => onlyLooks(role)))}
    ]
  }
}
`;
}

/** The accounts of NATS: that of the stores, and that of the members who only look at them. */
const [STORING, LOOKING] = ['PUNGI', 'PUNGI_LOOKING'];

const usersOf = (users: readonly NatsUser[]): string =>
  users
    .map(({ user, ...member }) => {
      const { publish, subscribe } = permissionsOf(member);
      const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } };
      const indented = JSON.stringify({ nkey: user, permissions }, null, 2).replaceAll('\n', '\n      ');
      return `      # ${member.name}\n      ${indented}`;
    })
    .join('\n');

const listed = (entries: readonly object[]): string =>
  `[\n${entries.map((entry) => `      ${JSON.stringify(entry)}\n`).join('')}    ]`;
