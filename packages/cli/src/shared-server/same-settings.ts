import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { CONFIG_FILE, type Config, loadConfig, type OptionName } from '@pungi/core/config';
import { type Ask, buildOf, identityOf, surroundings } from './ask.js';

/** Files of the current folder that decide what a run may do. */
const FILES = [CONFIG_FILE, 'profiles.yaml'];
/** Settings that `pungi serve` changes by itself, and that no run depends on. */
const OF_SERVERS: readonly OptionName[] = ['toolsDir', 'logFormat', 'maxConcurrentPerClient'];
const PATHS = ['venvsBasePath', 'auditDir', 'cacheDir', 'python', 'uv'] as const;
/** Variables besides settings that decide where things are. */
const PLACES = ['HOME', 'TMPDIR', 'XDG_STATE_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'PUNGI_DATA_DIR'];
const OF_INTERPRETERS = ['PATH', 'PYENV_VERSION', 'PYENV_ROOT'];
/** Files that a run leaves are held in memory until it has ended. */
const MOST_DISK_MB = 256;

/** Whether runs under these settings depend on nothing that a server read when it started. */
export function areShareable(config: Config, { hasFile }: { hasFile: boolean }): boolean {
  const { shareServer, cluster, logFile, autoInstall, defaultProfile, allowedProfiles, profilesFile } =
    config;
  const areUsual =
    defaultProfile === 'default' && allowedProfiles.join() === '*' && profilesFile === undefined;
  const isLocal = [...PATHS.map((name) => config[name] ?? '/'), ...config.dataRoots].every(isAbsolute);
  const hasNone = !hasFile && !FILES.some((name) => existsSync(name));
  const isSmall = config.maxDiskMb <= MOST_DISK_MB;
  const isHere = process.platform === 'linux' && cluster === undefined;
  return (
    shareServer &&
    isHere &&
    areUsual &&
    isLocal &&
    hasNone &&
    isSmall &&
    logFile === undefined &&
    !autoInstall
  );
}

/** Returns whether a command would do the very same as this server. */
export function settingsJudge(config: Config, folder: string): (ask: Ask) => boolean {
  const [build, own] = [buildOf(folder), comparable(config)];
  return ({ env, cwd, ...ask }) => {
    if (ask.build !== build || ask.surroundings !== surroundings()) return false;
    if (env['PUNGI_CONFIG'] || FILES.some((name) => existsSync(join(cwd, name)))) return false;
    if (!PLACES.every((name) => isSame(name, env))) return false;
    if (config.python === undefined && !isSameSearch(env, cwd)) return false;
    const file = ask.command.operands[0] ?? '';
    if (ask.script !== null && identityOf(resolve(cwd, file)) !== ask.script) return false;
    return comparable(loadConfig({ env })) === own;
  };
}

const isSame = (name: string, env: NodeJS.ProcessEnv) => (env[name] ?? '') === (process.env[name] ?? '');

/** A shim finds its interpreter by the current folder. */
const isSameSearch = (env: NodeJS.ProcessEnv, cwd: string) =>
  OF_INTERPRETERS.every((name) => isSame(name, env)) &&
  (cwd === process.cwd() || !/shims/.test(env['PATH'] ?? ''));

const comparable = (config: Config): string =>
  JSON.stringify(
    Object.entries(config)
      .filter(([name]) => !OF_SERVERS.includes(name as OptionName))
      .sort(),
  );
