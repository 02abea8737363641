import type { Member, Role } from '@pungi/cluster';
import type { RemoteBackend } from '@pungi/core';
import { type Logger, PungiError } from '@pungi/core/base';
import type { Config } from '@pungi/core/config';

export interface ClusterSettings {
  address: { url: string; name: string };
  creds: string;
  /** Whose credentials they are, if they say so. */
  member: Member | undefined;
}

/** The cluster that the settings name. Throws CONFIGURATION_ERROR if a part is missing, or the credentials are of none of these roles. */
export async function clusterOf(
  { cluster, clusterName, creds }: Config,
  ...roles: [Role, ...Role[]]
): Promise<ClusterSettings> {
  if (cluster === undefined) throw invalid('Missing: the cluster: give --cluster nats://HOST:4222.');
  if (creds === undefined) throw invalid('Missing: the credentials for the cluster: give --creds DIR.');
  const { memberAs } = await import('@pungi/cluster');
  const member = memberAs(creds, roles);
  const name = agree('cluster', clusterName, member?.cluster) ?? 'main';
  return { address: { url: cluster, name }, creds, member };
}

/** Undefined without a cluster. Only a cluster loads what it needs. */
export async function connectCluster(config: Config, logger: Logger): Promise<RemoteBackend | undefined> {
  if (config.cluster === undefined) return undefined;
  const { ClusterBackend } = await import('@pungi/cluster');
  const { address, creds } = await clusterOf(config, 'front');
  return ClusterBackend.connect({ ...address, creds }, logger);
}

/** NATS lets nobody use another name than that of the credentials. */
export function agree(
  what: string,
  given: string | undefined,
  ofKeys: string | undefined,
): string | undefined {
  if (given !== undefined && ofKeys !== undefined && given !== ofKeys)
    throw invalid(
      `The credentials are of the ${what} "${ofKeys}", not of "${given}": leave out --${what}-name, or give others.`,
    );
  return given ?? ofKeys;
}

const invalid = (message: string) => new PungiError('CONFIGURATION_ERROR', message);
