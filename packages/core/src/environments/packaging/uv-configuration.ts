import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The package sources in the user's uv.toml files. */
export interface UvConfiguration {
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
