import type { PipSettings } from './pip-settings.js';

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
