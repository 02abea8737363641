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
import {
  auditFinding,
  environmentFindings,
  type Finding,
  fail,
  ok,
  profileFinding,
  tryRun,
  warn,
} from './checks.js';

export interface Examination {
  healthy: boolean;
  findings: Finding[];
  settings: Setting[];
}

/** Checks everything a run depends on, in the order of dependencies. */
export async function examine(sources: ConfigSources): Promise<Examination> {
  const findings = [node(), ...kernelFindings()];
  let settings: Setting[] = [];
  try {
    const config = loadConfig(sources);
    settings = settingsOf(config, sources);
    findings.push(configuration(settings), ...(await engineFindings(config)));
  } catch (thrown) {
    findings.push(fail('Configuration', PungiError.from(thrown).message, 'Correct the setting.'));
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
  // The doctor changes nothing: packages to preinstall are only checked, and its test runs are not recorded.
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

/** Reports preloads after a run, when they have been loaded. */
function preloads({ preloads: found }: Health): Finding[] {
  return found.map(({ module, problem }) =>
    problem === null
      ? ok('Preload', module)
      : warn(
          'Preload',
          `${module} is not loaded: ${problem}`,
          'Runs still import it themselves; correct PRELOAD_MODULES or remove it there.',
        ),
  );
}

/** Reports the tier in use, and why each stronger one is not. */
function isolation({ tier, features, refused }: BackendState, config: Config): Finding[] {
  const found = `${tier} tier: ${features.join(', ') || 'no isolation'}`;
  const stronger = refused.map(tierFinding);
  if (tier === 'namespace') return [ok('Isolation', found)];
  const asked =
    config.tier === 'auto' ? 'The strongest tier available here' : `PUNGI_TIER asks for ${config.tier}`;
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

/** Reports what the kernel claims to offer. The isolation row shows whether it works. */
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
  if (modules === undefined) return ok('Landlock', 'unknown here; the isolation row shows it if used');
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
  /** "default", or the source: flags override the environment, which overrides the file. */
  origin: string;
}

/** Lists every setting with its value and origin. The configuration is already validated. */
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
