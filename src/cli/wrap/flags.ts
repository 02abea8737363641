import { WRAP_MODES, type WrapMode } from '../../contract/wrap.js';
import { option, type ToolsFlags } from './subcommand.js';

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
