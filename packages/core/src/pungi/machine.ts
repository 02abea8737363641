import type { Logger } from '../base/logger.js';
import type { Config } from '../config/schema.js';
import type { Backend } from '../engine/backend.js';
import { localBackend } from '../engine/engine.js';
import { LocalEnvironments } from '../environments/environments.js';
import type { OnEnvironmentEvent } from '../environments/recorder.js';
import type { Network } from '../network/network.js';
import type { Interpreter } from '../sandbox/interpreter.js';
import { engineOptions, environmentsOptions } from './parts.js';

/** The backend of a machine that runs code for others: gate, audit trail and replies are theirs. */
export function machineBackend(config: Config, logger: Logger): Backend {
  let network: Promise<Network> | undefined;
  return localBackend(
    {
      ...engineOptions(config, 'server'),
      network: async (hosts) => {
        network ??= import('../network/network.js').then((loaded) => new loaded.Network());
        return (await network).open(hosts, () => {});
      },
    },
    logger,
  );
}

/** The environments of such a machine, once its backend has an interpreter. Those who use it bound their number. */
export const machineEnvironments =
  (config: Config, base: string, backend: Backend, logger: Logger) =>
  (interpreter: Interpreter, onEvent: OnEnvironmentEvent): LocalEnvironments =>
    new LocalEnvironments(
      {
        ...environmentsOptions(config, 'server'),
        base,
        maxEnvironments: Number.POSITIVE_INFINITY,
        onEvent,
      },
      {
        interpreter: async () => interpreter,
        isWarm: (name) => backend.figures(name) !== undefined,
        retire: (name, inForce) => backend.retire(name, inForce),
      },
      logger,
    );
