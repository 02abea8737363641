import { PungiError } from '@pungi/core/base';
import { type Config, type OptionName, toolsFolder } from '@pungi/core/config';
import { WRAP_MODES, type WrapMode } from '@pungi/core/contract';
import type { Parsed } from '../act.js';
import { parserOf, readConfig } from '../config-flags.js';
import { WRAP_EXIT_CODES_HELP } from '../exit-codes.js';
import { option, subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** Settings of the commands that read scripts. */
export const DISCOVERY_SETTINGS: readonly OptionName[] = [
  'venvsBasePath',
  'defaultVenvName',
  'profilesFile',
  'python',
  'tier',
  'allowUnsandboxed',
];

/** One command of `pungi wrap`. */
export const subcommand = subcommandsOf({ settings: ['toolsDir'], exitCodes: WRAP_EXIT_CODES_HELP });

export interface ToolsFlags extends Parsed {
  tools?: string;
}

/** The same flag as in `pungi serve`. */
export const TOOLS = option('--tools <folder>', 'the tools folder, the same as --tools-dir').argParser(
  parserOf('toolsDir'),
);

export const configOf = (flags: ToolsFlags): Config =>
  readConfig({ ...flags, toolsDir: flags.tools ?? flags['toolsDir'] });

export function folderOf(config: Config): string {
  const folder = toolsFolder(config);
  if (folder !== null) return folder;
  throw new PungiError(
    'INVALID_INPUT',
    'There is no tools folder (TOOLS_DIR is off): name one with --tools.',
  );
}

/** Flags that choose which parts of a script become tools. */
export interface ChoiceFlags extends ToolsFlags {
  mode?: WrapMode;
  functions?: string[];
  include?: string[];
  env?: string;
  profile?: string;
}

/** The flags of `pungi wrap FILE`. */
export interface WrapFlags extends ChoiceFlags {
  output?: string;
  name?: string;
  force?: boolean;
}

export const CHOICE = [
  option(
    '-m, --mode <mode>',
    'function: its functions; script: its command line; both; auto: its functions, and its command line if it has one',
  ).choices(WRAP_MODES),
  option('--functions <names>', 'only these functions, separated by commas').argParser(parseNames),
  option('--include <path...>', 'files and folders next to the script to include'),
];

function parseNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
