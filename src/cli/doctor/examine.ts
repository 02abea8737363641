import { PungiError } from '../../base/errors.js';
import { silentLogger } from '../../base/logger.js';
import { type ConfigSources, loadConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { Health } from '../../contract/health.js';
import type { BackendState } from '../../engine/backend.js';
import { Pungi } from '../../pungi.js';
import { blockerOf, cgroupBlockerOf } from './blockers.js';
import { environmentFindings } from './environments.js';
import { type Finding, fail, ok, warn } from './finding.js';
import { kernelFindings } from './kernel.js';
import { auditFinding, profileFinding } from './records.js';
import { type Setting, settingsOf } from './settings.js';
import { tryRun } from './trial.js';

export interface Examination {
  healthy: boolean;
  findings: Finding[];
  settings: Setting[];
}

/** Looks at everything a run depends on, in the order in which one thing needs the other. */
export async function examine(sources: ConfigSources): Promise<Examination> {
  const findings = [node(), ...kernelFindings()];
  let settings: Setting[] = [];
  try {
    const config = loadConfig(sources);
    settings = settingsOf(config, sources);
    findings.push(configuration(settings), ...(await engineFindings(config)));
  } catch (thrown) {
    findings.push(fail('Configuration', PungiError.from(thrown).message, 'Correct it where it is set.'));
  }
  return { healthy: findings.every(({ state }) => state !== 'fail'), findings, settings };
}

function node(): Finding {
  return ok('Node', `${process.version} at ${process.execPath}`);
}

function configuration(settings: readonly Setting[]): Finding {
  const changed = settings.filter(({ origin }) => origin !== 'default').length;
  return ok('Configuration', `${changed} of ${settings.length} settings are not at their default`);
}

async function engineFindings(config: Config): Promise<Finding[]> {
  // The doctor looks and changes nothing: what is to be preinstalled is asked about, and its trials are not recorded.
  const own = { ...config, poolSize: 1, preinstalledPackages: [], audit: false };
  const pungi = Pungi.start(own, silentLogger, 'command');
  try {
    const state = await pungi.state();
    return [
      python(state, config),
      ...isolation(state, config),
      cgroups(state, config),
      ...(await tryRun(pungi)),
      ...preloads(await pungi.health()),
      ...(await environmentFindings(pungi.environments, config.preinstalledPackages)),
      profileFinding(pungi.profiles, config),
      await auditFinding(config),
    ];
  } catch (thrown) {
    return [startFailure(PungiError.from(thrown))];
  } finally {
    await pungi.close();
  }
}

function python({ interpreter: { path, version } }: BackendState, config: Config): Finding {
  const how = config.python === undefined ? 'the first on PATH that is new enough' : 'as configured';
  return ok('Python', `${version} at ${path}, ${how}`);
}

/** After a run: its packages are loaded then. */
function preloads({ preloads: found }: Health): Finding[] {
  return found.map(({ module, problem }) =>
    problem === null
      ? ok('Preload', module)
      : warn(
          'Preload',
          `${module} is not loaded: ${problem}`,
          'Runs import it themselves; correct it or take it off PRELOAD_MODULES.',
        ),
  );
}

/** The tier in force, and for each stronger one why it is not. */
function isolation({ tier, features, refused }: BackendState, config: Config): Finding[] {
  const found = `${tier} tier: ${features.join(', ') || 'nothing holds a run back'}`;
  const stronger = refused.map(tierFinding);
  if (tier === 'namespace') return [ok('Isolation', found)];
  const asked =
    config.tier === 'auto' ? 'The strongest that works here' : `PUNGI_TIER asks for ${config.tier}`;
  const advice = tier === 'process' ? 'run only code that you trust' : 'the namespace tier is stronger';
  return [warn('Isolation', found, `${asked}; ${advice}.`), ...stronger];
}

function tierFinding({ tier, reason }: BackendState['refused'][number]): Finding {
  const { found, fix } = blockerOf(reason) ?? { found: 'not available', fix: 'See the kernel rows above.' };
  return warn(`Tier ${tier}`, `${found} (${reason})`, fix);
}

function cgroups({ cgroup }: BackendState, { maxTotalMemoryMb }: Config): Finding {
  if (cgroup.version !== null) {
    const all = `all runs together may use ${cgroup.totalMb} MB`;
    return ok('Cgroups', `${cgroup.version}: the kernel counts memory, processes and CPU time; ${all}`);
  }
  const { found, fix } = cgroupBlockerOf(cgroup.reason) ?? {
    found: 'not available',
    fix: 'See docs/configuration.md.',
  };
  const total =
    maxTotalMemoryMb === undefined ? '' : `; runs wait while all together could use ${maxTotalMemoryMb} MB`;
  return warn('Cgroups', `none: ${found} (${cgroup.reason})${total}`, fix);
}

/** The message of such an error says what was tried and what to do. */
function startFailure({ code, message }: PungiError): Finding {
  if (code === 'INTERPRETER_NOT_FOUND')
    return fail('Python', message, 'Install Python 3.10+, or set PUNGI_PYTHON.');
  if (code === 'SANDBOX_UNAVAILABLE')
    return fail('Isolation', message, blockerOf(message)?.fix ?? 'See the kernel rows above.');
  return fail('Engine', message, 'See the rows above, or report this.');
}
