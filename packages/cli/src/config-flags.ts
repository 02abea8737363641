import { faultsOf } from '@pungi/core/base';
import { Config, type ConfigSources, loadConfig, OPTIONS, type OptionName } from '@pungi/core/config';
import { type Command, InvalidArgumentError, Option } from 'commander';

const DEFAULTS = Config.parse({});

/**
 * Adds `--config` and one flag per named option, which override file and environment. `defaults`: values that differ for this
 * command.
 */
export function addConfigFlags(
  command: Command,
  names: readonly OptionName[],
  defaults: Partial<Config> = {},
): Command {
  command.addOption(
    new Option(
      '--config <file>',
      'read settings from this YAML file (PUNGI_CONFIG; else ./pungi.yaml)',
    ).helpGroup(GROUP),
  );
  for (const name of names) command.addOption(configFlag(name, { ...DEFAULTS, ...defaults }[name]));
  return command;
}

export const ALL_OPTIONS = Object.keys(OPTIONS) as OptionName[];

/** Turns the flags of a parsed command into a source of configuration. */
export function configSources(parsed: Record<string, unknown>): ConfigSources {
  const flags = Object.fromEntries(ALL_OPTIONS.map((name) => [name, parsed[name]]));
  return { flags, file: parsed['config'] as string | undefined };
}

export const readConfig = (parsed: Record<string, unknown>, defaults: Partial<Config> = {}): Config =>
  loadConfig({ ...configSources(parsed), defaults });

/** Checks the value of a shorter flag, under the name that the user typed. */
export const parserOf =
  (name: OptionName) =>
  (text: string): unknown => {
    const parsed = OPTIONS[name].schema.safeParse(text);
    if (parsed.success) return parsed.data;
    const reasons = parsed.error.issues.flatMap((issue) => faultsOf(issue)).map(({ reason }) => reason);
    throw new InvalidArgumentError(reasons.join(', '));
  };

const GROUP = 'Settings (each also by its variable or in the file):';

function configFlag(name: OptionName, byDefault: unknown): Option {
  const { env, about } = OPTIONS[name];
  const value = typeof byDefault === 'boolean' ? '[true|false]' : '<value>';
  const option = new Option(`--${kebab(name)} ${value}`, `${about} (${env}${defaultText(byDefault)})`);
  return option.helpGroup(GROUP);
}

function defaultText(value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return '';
  return `, default ${String(value)}`;
}

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
