import { PungiError } from '../../base/errors.js';
import type { Config, OptionName } from '../../config/schema.js';
import { toolsFolder } from '../../config/tools-folder.js';
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
