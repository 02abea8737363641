import { existsSync, readFileSync } from 'node:fs';
import { arch, release, type } from 'node:os';
import { type BackendState, Pungi } from '@pungi/core';
import { PungiError, silentLogger } from '@pungi/core/base';
import {
  CONFIG_FILE,
  type Config,
  type ConfigSources,
  loadConfig,
  OPTIONS,
  type OptionName,
} from '@pungi/core/config';
import { type Health, isSandboxed } from '@pungi/core/contract';
import { parse } from 'yaml';
import { blockerOf, cgroupBlockerOf, readKernelFile } from './blockers.js';
import { auditFinding, environmentFindings, profileFinding } from './environments.js';
import { type Finding, fail, ok, warn } from './finding.js';
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
  const advice = !isSandboxed(tier) ? 'run only code that you trust' : 'the namespace tier is stronger';
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

/** What the kernel says it offers. Whether it really lets Pungi in is for the isolation row to tell. */
export function kernelFindings(platform = process.platform, read = readKernelFile): Finding[] {
  const system = `${type()} ${release()}, ${arch()}`;
  if (platform !== 'linux') {
    return [warn('System', system, 'Only Linux isolates runs; elsewhere they need ALLOW_UNSANDBOXED=true.')];
  }
  return [ok('System', system), userNamespaces(read), landlock(read), seccomp(read)];
}

type Read = (path: string) => string | undefined;

function userNamespaces(read: Read): Finding {
  const name = 'User namespaces';
  const most = read('/proc/sys/user/max_user_namespaces');
  if (read('/proc/sys/kernel/unprivileged_userns_clone') === '0') {
    return warn(name, 'switched off', 'Allow them with: sysctl -w kernel.unprivileged_userns_clone=1');
  }
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1') {
    const todo = 'Allow them with: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
    return warn(name, 'restricted by AppArmor', todo);
  }
  if (most === undefined) return warn(name, 'not in this kernel', 'Use a kernel built with CONFIG_USER_NS.');
  if (most === '0')
    return warn(name, 'none allowed', 'Allow them with: sysctl -w user.max_user_namespaces=15000');
  return ok(name, `offered (up to ${most})`);
}

function landlock(read: Read): Finding {
  const modules = read('/sys/kernel/security/lsm');
  if (modules === undefined)
    return ok('Landlock', 'not told by this system; the isolation row names it if in force');
  if (modules.split(',').includes('landlock')) return ok('Landlock', 'offered');
  return warn('Landlock', `not among ${modules}`, 'Add landlock to the kernel parameter lsm=.');
}

function seccomp(read: Read): Finding {
  const actions = read('/proc/sys/kernel/seccomp/actions_avail');
  if (actions !== undefined) return ok('Seccomp', 'offered');
  return warn('Seccomp', 'not in this kernel', 'Use a kernel built with CONFIG_SECCOMP_FILTER.');
}

interface Setting {
  name: OptionName;
  env: string;
  value: unknown;
  /** "default", or who said so: the flags win over the environment, the environment over the file. */
  origin: string;
}

/** Every setting in force and where it comes from. The configuration has been checked before. */
function settingsOf(config: Config, { flags = {}, file }: ConfigSources, env = process.env): Setting[] {
  const path = file ?? env['PUNGI_CONFIG'] ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  const inFile =
    path === undefined ? {} : ((parse(readFileSync(path, 'utf8')) ?? {}) as Record<string, unknown>);
  const given = (value: unknown) => value !== undefined && value !== '';
  return (Object.keys(OPTIONS) as OptionName[]).map((name) => {
    const variable = OPTIONS[name].env;
    const origin = given(flags[name])
      ? 'command line'
      : given(env[variable])
        ? variable
        : given(inFile[name])
          ? String(path)
          : 'default';
    return { name, env: variable, value: config[name], origin };
  });
}
