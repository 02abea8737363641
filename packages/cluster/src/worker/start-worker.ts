import type { Logger } from '@pungi/core/base';
import type { Backend } from '@pungi/core/engine';
import { type ClusterAddress, openConnection } from '../connection.js';
import { natsCredentials, operatorVerifierOf, verifierOf } from '../credentials.js';
import { subjectsOf } from '../protocol/subjects.js';
import { ClusterWorker, type ClusterWorkerOptions, type ClusterWorkerParts } from './cluster-worker.js';

export interface StartWorker {
  address: ClusterAddress;
  /** The folder with the credentials of the worker. */
  creds: string;
  worker: ClusterWorkerOptions;
  backend: Backend;
  environments: ClusterWorkerParts['environments'];
  logger: Logger;
}

/** Resolves to a worker that takes runs. Throws CONFIGURATION_ERROR, or what is missing on this machine. */
export async function startWorker({
  address,
  creds,
  worker,
  backend,
  environments,
  logger,
}: StartWorker): Promise<ClusterWorker> {
  const verifier = verifierOf(creds);
  const operators = operatorVerifierOf(creds);
  const name = `pungi worker ${worker.name}`;
  const connection = await openConnection(address, name, natsCredentials(creds), logger);
  const subjects = subjectsOf(address.name);
  const parts = { connection, subjects, verifier, operators, backend, environments, logger };
  const started = new ClusterWorker(parts, worker);
  try {
    await started.start();
    return started;
  } catch (error) {
    await started.close();
    throw error;
  }
}
