import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import { kindOf } from '../base/arguments.js';
import { PungiError } from '../base/errors.js';
import { dataFolder } from '../base/files.js';
import { faultsOf, similarName } from '../base/issue-text.js';
import { Config, OPTIONS, type OptionName } from './schema.js';
import { readYamlFile } from './yaml-file.js';

export const CONFIG_FILE = 'pungi.yaml';

export interface ConfigSources {
  /** Defaults that replace those of the schema. */
  defaults?: Partial<Config>;
  /** Command-line flags by option name. */
  flags?: Partial<Record<OptionName, unknown>>;
  env?: NodeJS.ProcessEnv;
  /** A configuration file that must exist. Without it, pungi.yaml in the current folder is read if it exists. */
  file?: string | undefined;
}

/** Merges defaults, the file, the environment and flags in this order, and validates the result once. */
export function loadConfig({
  defaults = {},
  flags = {},
  env = process.env,
  file = env['PUNGI_CONFIG'],
}: ConfigSources = {}): Config {
  const origin = new Map<string, string>();
  const merged: Record<string, unknown> = { ...defaults };
  const take = (name: string, value: unknown, from: string) => {
    if (value === undefined || value === '') return;
    merged[name] = value;
    origin.set(name, from);
  };
  const path = file ?? (existsSync(CONFIG_FILE) ? CONFIG_FILE : undefined);
  if (path !== undefined) {
    for (const [name, value] of Object.entries(readConfigFile(path))) take(name, value, `${name} in ${path}`);
  }
  for (const [name, { env: variable }] of Object.entries(OPTIONS)) take(name, env[variable], variable);
  for (const [name, value] of Object.entries(flags)) take(name, value, `--${kebab(name)}`);

  return checkConfig(merged, origin);
}

/** Validates a configuration, in which every setting has a value. */
export function checkConfig(given: unknown, origin: ReadonlyMap<string, string> = new Map()): Config {
  const parsed = Config.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => describe(issue, given, origin));
  throw new PungiError('CONFIGURATION_ERROR', problems.join('; '), { problems });
}

function readConfigFile(path: string): Record<string, unknown> {
  const what = `The configuration file ${path}`;
  const { data, problems } = readYamlFile(path, what);
  const [first] = problems;
  if (first !== undefined) {
    const where = first.position === null ? '' : ` in line ${first.position.line}`;
    throw new PungiError('CONFIGURATION_ERROR', `${what} cannot be used${where}: ${first.problem}.`);
  }
  if (data === null) return {};
  if (typeof data !== 'object' || Array.isArray(data)) {
    throw new PungiError('CONFIGURATION_ERROR', `${what} must contain settings such as "maxMemoryMb: 256".`);
  }
  return data as Record<string, unknown>;
}

function describe(issue: z.core.$ZodIssue, given: unknown, origin: ReadonlyMap<string, string>): string {
  if (issue.path.length === 0 && issue.code === 'invalid_type')
    return `the configuration: expected an object, got ${kindOf(given)}`;
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(OPTIONS);
    const names = issue.keys.map((key) => origin.get(key) ?? key).join(', ');
    const meant = issue.keys.length === 1 ? similarName(issue.keys[0]!, known) : undefined;
    return `unknown setting ${names}; ${meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${meant}?`}`;
  }
  const name = String(issue.path[0]);
  const value = (given as Record<string, unknown>)[name];
  const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return `${origin.get(name) ?? name} is ${shown}: ${faultsOf(issue)[0]?.reason ?? issue.message}`;
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns the folder of scripts that the server offers as tools, or null if it is off. */
export function toolsFolder({ toolsDir }: Pick<Config, 'toolsDir'>): string | null {
  if (toolsDir === 'off') return null;
  return resolve(toolsDir ?? join(dataFolder(), 'tools'));
}
