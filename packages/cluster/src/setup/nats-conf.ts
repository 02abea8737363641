import type { Member } from '../credentials.js';
import { permissionsOf } from './permissions.js';

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

/** Everybody who may connect. There is nobody else: no password, no user without a key. */
export function usersConf(users: readonly NatsUser[]): string {
  const entries = users.map(({ user, ...member }) => {
    const { publish, subscribe } = permissionsOf(member);
    const permissions = { publish: { allow: publish }, subscribe: { allow: subscribe } };
    const indented = JSON.stringify({ nkey: user, permissions }, null, 2).replaceAll('\n', '\n      ');
    return `      # ${member.name}\n      ${indented}`;
  });
  return `\
# Written by "pungi cluster": changes are lost.
accounts {
  PUNGI {
    jetstream: enabled
    users: [
${entries.join('\n')}
    ]
  }
}
`;
}
