import type { ToolCommand, ToolEnd } from '../../sandbox/tool.js';
import type { PipSettings } from './pip-settings.js';

/** Where pip itself says which index it asks when nobody says anything. */
const DEFAULT_INDEX = 'from pip._internal.models.index import PyPI; print(PyPI.simple_url)';

/**
 * What was read of pip's settings, as its variables. Its files are not read again: they may also say where to install,
 * and what to build. Where pip itself is told nothing, uv's variables count.
 */
export function pipEnvironment(env: Record<string, string>, pip: PipSettings): Record<string, string> {
  const others = Object.entries(env).filter(([name]) => !/^(PIP|UV)_/.test(name));
  const index = pip.indexUrl ?? env['UV_DEFAULT_INDEX'] ?? env['UV_INDEX_URL'];
  const more =
    pip.extraIndexUrls.length > 0 ? pip.extraIndexUrls : words(env['UV_INDEX'] ?? env['UV_EXTRA_INDEX_URL']);
  const hosts = pip.trustedHosts.length > 0 ? pip.trustedHosts : words(env['UV_INSECURE_HOST']);
  const settings: Record<string, string | number | null | undefined> = {
    PIP_INDEX_URL: index && withoutName(index),
    PIP_EXTRA_INDEX_URL: more.map(withoutName).join(' '),
    PIP_FIND_LINKS: pip.findLinks.join(' '),
    PIP_NO_INDEX: pip.noIndex ? '1' : null,
    PIP_TRUSTED_HOST: hosts.join(' '),
    PIP_CERT: pip.cert,
    PIP_CLIENT_CERT: pip.clientCert,
    PIP_PROXY: pip.proxy,
    PIP_TIMEOUT: pip.timeout,
    PIP_RETRIES: pip.retries,
    PIP_CONSTRAINT: pip.constraints.join(' '),
    PIP_PRE: pip.pre ? '1' : null,
    PIP_KEYRING_PROVIDER: pip.keyringProvider,
  };
  const given = Object.entries(settings).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return {
    ...Object.fromEntries(others),
    ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
    PIP_CONFIG_FILE: '/dev/null',
    PIP_NO_INPUT: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
    PIP_PROGRESS_BAR: 'off',
    PYTHONNOUSERSITE: '1',
    PYTHONDONTWRITEBYTECODE: '1',
  };
}

const words = (list: string | undefined) => list?.split(/\s+/).filter((word) => word !== '') ?? [];

/** uv's indexes may have a name: NAME=URL. */
const withoutName = (index: string) => index.replace(/^[\w-]+=(?=\w+:\/\/)/, '');

/** The addresses of the indexes that pip asks in an environment of the above kind. */
export async function indexesOfPip(
  python: string,
  env: Record<string, string>,
  run: (command: ToolCommand) => Promise<ToolEnd>,
): Promise<string[]> {
  if (env['PIP_NO_INDEX']) return [];
  const more = env['PIP_EXTRA_INDEX_URL']?.split(' ') ?? [];
  if (env['PIP_INDEX_URL']) return [env['PIP_INDEX_URL'], ...more];
  const end = await run({ python, command: python, args: ['-I', '-c', DEFAULT_INDEX], env });
  return [end.stdout.trim(), ...more];
}
