import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { CONFIG_FILE, type ConfigSources } from '../../config/load.js';
import { type Config, OPTIONS, type OptionName } from '../../config/schema.js';

export interface Setting {
  name: OptionName;
  env: string;
  value: unknown;
  /** "default", or who said so: the flags win over the environment, the environment over the file. */
  origin: string;
}

/** Every setting in force and where it comes from. The configuration has been checked before. */
export function settingsOf(
  config: Config,
  { flags = {}, file }: ConfigSources,
  env = process.env,
): Setting[] {
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
