import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Variables of the server that a tool needs: paths, network settings and certificates. */
const PASSED = new Set([
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'SSL_CLIENT_CERT',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'NETRC',
  'HTTP_TIMEOUT',
  'XDG_CONFIG_HOME',
  'XDG_CONFIG_DIRS',
  // Where uv and keyrings keep credentials of private indexes.
  'XDG_DATA_HOME',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'PYTHON_KEYRING_BACKEND',
]);

/** pip's settings of package sources. Any other would change the meaning of an installation. */
const PIP_SETTINGS = new Set(
  [
    'CONFIG_FILE',
    'INDEX_URL',
    'EXTRA_INDEX_URL',
    'FIND_LINKS',
    'NO_INDEX',
    'TRUSTED_HOST',
    'CERT',
    'CLIENT_CERT',
    'PROXY',
    'TIMEOUT',
    'DEFAULT_TIMEOUT',
    'RETRIES',
    'CONSTRAINT',
    'PRE',
    'KEYRING_PROVIDER',
  ].map((name) => `PIP_${name}`),
);

/** uv's settings that would change where or what is installed, disable a check, or are secrets of other commands. */
const UV_REFUSED = [
  /^UV_(TARGET|PREFIX|SYSTEM_PYTHON|BREAK_SYSTEM_PACKAGES|(NO_)?MANAGED_PYTHON)$/,
  /^UV_PYTHON(_PREFERENCE|_DOWNLOADS|_PLATFORM|_VERSION|_SEARCH_PATH)?$/,
  /^UV_(NO_BINARY|NO_BUILD|NO_EDITABLE|NO_DEPS|COMPILE_BYTECODE|NO_COMPILE_BYTECODE)/,
  /^UV_(REQUIRE_HASHES|NO_REQUIRE_HASHES|VERIFY_HASHES|NO_VERIFY_HASHES|NO_INSTALLER_METADATA)$/,
  /^UV_(INSECURE_NO_ZIP_VALIDATION|SKIP_WHEEL_FILENAME_CHECK|CUSTOM_COMPILE_COMMAND)$/,
  /^UV_(LINK_MODE|CACHE_DIR|NO_CACHE|NO_PROGRESS|SHOW_RESOLUTION|ENV_FILE|WORKING_DIR|WORKING_DIRECTORY)$/,
  /^UV_(PROJECT|PUBLISH|INTERNAL|VENV|TOOL|RUN|INIT|INSTALL)(_|$)/,
];

/** Returns the whole environment of a tool. Nothing else is inherited, so no secret can leak into a package. */
export function toolEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '' && isPassed(entry[0]),
  );
  return { LANG: 'C.UTF-8', ...Object.fromEntries(kept), NO_COLOR: '1' };
}

function isPassed(name: string): boolean {
  if (name.startsWith('UV_')) return !UV_REFUSED.some((pattern) => pattern.test(name));
  if (name.startsWith('PIP_')) return PIP_SETTINGS.has(name);
  const isProxy = name.toLowerCase().endsWith('_proxy');
  return PASSED.has(isProxy ? name.toUpperCase() : name);
}

/** Creates a private folder that is removed when the work has ended. */
export async function withTemporaryFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `pungi-${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes leftovers of killed processes: entries with this prefix that are older than this. */
export async function removeAbandoned(folder: string, olderThanMs: number, prefix = ''): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const path = join(folder, name);
    const touched = (await stat(path).catch(() => undefined))?.mtimeMs ?? Date.now();
    if (Date.now() - touched > olderThanMs) await rm(path, { recursive: true, force: true });
  }
}
