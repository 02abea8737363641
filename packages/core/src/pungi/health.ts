import type { AuditRecorder } from '../audit/recorder.js';
import { PungiError } from '../base/errors.js';
import { VERSION } from '../base/version.js';
import type { Config } from '../config/schema.js';
import type { EnvironmentInfo } from '../contract/environment.js';
import type { ClusterHealth, Health } from '../contract/health.js';
import { isSandboxed } from '../contract/outcome.js';
import type { BackendState } from '../engine/backend.js';
import type { Engine } from '../engine/engine.js';
import type { Environments } from '../environments/environments.js';
import type { Preinstalled } from '../environments/preinstalled.js';
import { dataRootsOf } from '../gate/data-roots.js';
import type { Alerts } from '../metrics/alerts.js';
import { type Metrics, statusOf } from '../metrics/metrics.js';

interface Parts {
  config: Config;
  engine: Engine;
  environments: Environments;
  preinstalled: Preinstalled;
  metrics: Metrics;
  alerts: Alerts;
  audit: AuditRecorder;
}

/** Collects the state of all parts. */
export async function examineHealth(parts: Parts, venvName?: string): Promise<Health> {
  const { config, engine, environments, preinstalled, metrics, audit } = parts;
  const { queue, backend, state } = engine;
  const problem = (await problemOf(engine)) ?? dataProblem(config);
  const environment = problem === null && state ? await environments.show(venvName) : null;
  const pool = backend.figures(environment?.venvName ?? environments.defaultName);
  const alerts = parts.alerts.current;
  const cluster = backend.cluster?.();
  const workerProblem = cluster ? noWorkers(cluster) : null;
  return {
    status: statusOf({
      problem,
      isReady: state !== undefined,
      alerts,
      auditProblem: audit.problem,
      environmentProblem: preinstalled.problem,
      workerProblem,
    }),
    version: VERSION,
    pythonVersion: state
      ? `Python ${environment?.pythonVersion || state.interpreter.version}`
      : 'not known yet',
    config: withoutSecrets(config),
    metrics: metrics.snapshot(queue.active, queue.waiting),
    isolation: isolationOf(state, config),
    interpreter: state ? { ...state.interpreter } : null,
    environment: environment && inPreparation(environment, preinstalled),
    warmEnvironments: backend.environments,
    pool: {
      target: pool?.size ?? config.poolSize,
      parked: pool?.parked ?? 0,
      parking: pool?.parking ?? 0,
      busy: pool?.busy ?? 0,
      forkServers: pool?.forkServers ?? 0,
      restarts: pool?.restarts ?? 0,
    },
    preloads: pool ? [...pool.preloads] : [],
    queue: { active: queue.active, waiting: queue.waiting, capacity: queue.capacity },
    ...(cluster && { cluster }),
    alerts,
    audit: { enabled: config.audit, folder: audit.folder, problem: audit.problem },
    notes: preinstalled.problem === null ? [] : [preinstalled.problem],
    problem: problem ?? audit.problem ?? preinstalled.problem ?? workerProblem,
  };
}

/** Runs wait then, for as long as they may. */
function noWorkers({ name, workers }: ClusterHealth): string | null {
  if (workers.some(({ state }) => state === 'ready')) return null;
  const those = workers.map((worker) => `${worker.name} is ${worker.state}`).join(', ');
  return `No worker of the cluster "${name}" takes runs${those && ` (${those})`}: start one with pungi worker.`;
}

function isolationOf(state: BackendState | undefined, config: Config): Health['isolation'] {
  const { tier = null, features = [], cgroup } = state ?? {};
  const isHeld = cgroup !== undefined && cgroup.version !== null;
  return {
    tier,
    features,
    warning: warningFor(state),
    cgroup: cgroup ? { version: cgroup.version, reason: isHeld ? null : cgroup.reason } : null,
    totalMemoryMb: (isHeld ? cgroup.totalMb : config.maxTotalMemoryMb) ?? null,
  };
}

/** Says which data root has gone since the start. Every run is refused then. */
function dataProblem(config: Config): string | null {
  try {
    dataRootsOf(config);
    return null;
  } catch (thrown) {
    return PungiError.from(thrown).message;
  }
}

async function problemOf(engine: Engine): Promise<string | null> {
  if (engine.state) return null;
  const soFar = Promise.race([engine.started, Promise.resolve()]);
  return soFar.then(
    () => null,
    (error: unknown) => PungiError.from(error).message,
  );
}

const inPreparation = (environment: EnvironmentInfo, { isPending }: Preinstalled): EnvironmentInfo =>
  isPending && environment.isDefault ? { ...environment, state: 'preparing' } : environment;

/** Removes the webhook's address, which may contain a secret. */
const withoutSecrets = (config: Config): Health['config'] =>
  config.alertWebhook === undefined ? { ...config } : { ...config, alertWebhook: '(set)' };

function warningFor(state: BackendState | undefined): string | null {
  if (!state || state.tier === 'namespace') return null;
  if (!isSandboxed(state.tier))
    return 'Code is not isolated: it runs with the rights of the sandbox user or your own.';
  const [refused] = state.refused;
  return `The namespace tier could not be entered${refused ? ` (${refused.reason})` : ''}; landlock and seccomp hold instead.`;
}
