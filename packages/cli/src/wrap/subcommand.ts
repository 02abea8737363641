import { PungiError } from '@pungi/core/base';
import { type Config, type OptionName, toolsFolder } from '@pungi/core/config';
import { WRAP_MODES, type WrapMode } from '@pungi/core/contract';
import type { Parsed } from '../act.js';
import { parserOf, readConfig } from '../config-flags.js';
import { WRAP_EXIT_CODES_HELP } from '../exit-codes.js';
import { option, subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** What those commands need that look at a script. */
export const LOOKING: readonly OptionName[] = [
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

/** As with `pungi serve`. */
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

/** What of a script is to be tools. */
export interface ChoiceFlags extends ToolsFlags {
  mode?: WrapMode;
  functions?: string[];
  include?: string[];
  env?: string;
  profile?: string;
}

/** What `pungi wrap FILE` can be told. */
export interface WrapFlags extends ChoiceFlags {
  output?: string;
  name?: string;
  force?: boolean;
}

export const CHOICE = [
  option(
    '-m, --mode <mode>',
    'function: its functions; script: its command line; both; auto: its functions, and its command line where it declares one',
  ).choices(WRAP_MODES),
  option('--functions <names>', 'only these functions, separated by commas').argParser(parseNames),
  option('--include <path...>', 'files and folders beside the script that go along with it'),
];

function parseNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
