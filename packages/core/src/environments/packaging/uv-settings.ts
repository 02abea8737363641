import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PungiError } from '../../base/errors.js';
import { PYTHON_HALF } from '../../sandbox/spawn.js';
import { runTool } from '../../sandbox/tool.js';

export interface UvSettings {
  env: Record<string, string>;
  noIndex: boolean;
  /** Folders and addresses, besides those that uv reads itself. */
  findLinks: string[];
}

/** Translates pip's settings, which uv does not read, into uv's, unless the latter are set. */
export function uvSettings(
  env: Record<string, string>,
  pip: PipSettings,
  { keys }: UvConfiguration,
): UvSettings {
  const isFree = (variables: string[], settings: string[]) =>
    variables.every((name) => env[name] === undefined) && settings.every((name) => !keys.has(name));
  const freeIndex = isFree(['UV_DEFAULT_INDEX', 'UV_INDEX_URL'], ['index-url', 'index']);
  const freeExtra = isFree(['UV_INDEX', 'UV_EXTRA_INDEX_URL'], ['extra-index-url', 'index']);
  const freeLinks = isFree(['UV_FIND_LINKS'], ['find-links']);
  const noIndex = pip.noIndex && freeIndex && freeExtra && isFree([], ['no-index']);

  const added: Record<string, string | null> = {
    UV_INDEX_URL: freeIndex ? pip.indexUrl : null,
    UV_EXTRA_INDEX_URL: freeExtra ? spaced(pip.extraIndexUrls) : null,
    UV_INSECURE_HOST: isFree([], ['allow-insecure-host']) ? spaced(pip.trustedHosts) : null,
    UV_CONSTRAINT: isFree([], ['constraint-dependencies']) ? spaced(pip.constraints) : null,
    UV_PRERELEASE: pip.pre && isFree([], ['prerelease']) ? 'allow' : null,
    UV_KEYRING_PROVIDER:
      pip.keyringProvider === 'subprocess' && isFree([], ['keyring-provider']) ? 'subprocess' : null,
    UV_HTTP_TIMEOUT:
      pip.timeout !== null && isFree(['UV_REQUEST_TIMEOUT', 'HTTP_TIMEOUT'], [])
        ? String(Math.max(1, Math.ceil(pip.timeout)))
        : null,
    UV_HTTP_RETRIES: pip.retries === null ? null : String(Math.floor(pip.retries)),
    SSL_CLIENT_CERT: pip.clientCert,
    ...certificates(env, pip),
    ...proxies(env, pip),
  };
  return {
    env: { ...definedOnly(added), ...env },
    noIndex,
    findLinks: freeLinks ? pip.findLinks : [],
  };
}

const spaced = (list: string[]) => (list.length > 0 ? list.join(' ') : null);

export const isAddress = (place: string) => /^https?:\/\//.test(place);

/** pip uses the certificate settings of requests and curl as well. */
function certificates(env: Record<string, string>, pip: PipSettings): Record<string, string> {
  const bundle = pip.cert ?? env['REQUESTS_CA_BUNDLE'] ?? env['CURL_CA_BUNDLE'];
  if (!bundle || env['SSL_CERT_FILE'] || env['SSL_CERT_DIR']) return {};
  const isFolder = statSync(bundle, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return { [isFolder ? 'SSL_CERT_DIR' : 'SSL_CERT_FILE']: bundle };
}

function proxies(env: Record<string, string>, { proxy }: PipSettings): Record<string, string> {
  if (proxy === null) return {};
  const isSet = (name: string) => env[name] !== undefined || env[name.toLowerCase()] !== undefined;
  if (isSet('ALL_PROXY') || isSet('HTTPS_PROXY') || isSet('HTTP_PROXY')) return {};
  return { HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
}

const definedOnly = (env: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== null));

/** The package sources in the user's uv.toml files. */
interface UvConfiguration {
  /** Names of settings, such as `index-url`; `index` for tables of that name. */
  keys: ReadonlySet<string>;
}

/**
 * Checks only whether a setting exists, so that pip's settings do not override it; uv itself reads the files. That is
 * why it reads lines, not TOML.
 */
export async function readUvConfiguration(env: Record<string, string>): Promise<UvConfiguration> {
  const keys = new Set<string>();
  for (const path of configurationFiles(env)) {
    const text = await readFile(path, 'utf8').catch(() => '');
    for (const line of text.split('\n')) {
      const [, table, key] = /^\s*(?:\[\[?\s*([\w.-]+)\s*\]|(?:pip\.)?([\w-]+)\s*=)/.exec(line) ?? [];
      if (table !== undefined) keys.add(table);
      if (key !== undefined) keys.add(key);
    }
  }
  return { keys };
}

function configurationFiles(env: Record<string, string>): string[] {
  if (env['UV_NO_CONFIG']) return [];
  if (env['UV_CONFIG_FILE']) return [env['UV_CONFIG_FILE']];
  const user = env['XDG_CONFIG_HOME'] ?? (env['HOME'] && join(env['HOME'], '.config'));
  const system = (env['XDG_CONFIG_DIRS'] ?? '/etc/xdg').split(':');
  return [...(user ? [user] : []), ...system, '/etc'].map((folder) => join(folder, 'uv', 'uv.toml'));
}

/** Where the user's pip gets packages from. */
export interface PipSettings {
  indexUrl: string | null;
  extraIndexUrls: string[];
  /** Addresses, and folders that exist. */
  findLinks: string[];
  noIndex: boolean;
  trustedHosts: string[];
  cert: string | null;
  clientCert: string | null;
  proxy: string | null;
  /** Seconds. */
  timeout: number | null;
  retries: number | null;
  constraints: string[];
  pre: boolean;
  keyringProvider: string | null;
}

const SCRIPT = join(PYTHON_HALF, 'pungi', 'tools', 'pip_settings.py');
const TIMEOUT_MS = 30_000;

/** Reads pip's configuration files and variables as pip does. `env` is the tool's environment. */
export async function readPipSettings(
  python: string,
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<PipSettings> {
  const end = await runTool(
    { python, command: python, args: ['-I', '-S', '-X', 'utf8', SCRIPT], env },
    { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) },
  );
  if (end.status === 0) return JSON.parse(end.stdout) as PipSettings;
  const why = end.stderr.trim().split('\n').at(-1);
  throw new PungiError('CONFIGURATION_ERROR', `pip's configuration cannot be read: ${why}`);
}
