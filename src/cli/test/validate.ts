import type { Command } from 'commander';
import { SCRIPT_DEFAULTS } from '../../pungi/script-settings.js';
import { USAGE } from '../exit-codes.js';
import { SCRIPT_SETTINGS } from './run.js';
import { collectPairs, type End, option, subcommand } from './subcommand.js';
import type { ValidateFlags } from './validate-specs.js';

export const validate = (end: End): Command =>
  subcommand<[specs: string[]], ValidateFlags>('validate', end, {
    about: 'say all that is wrong with specifications, without starting a server',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option('--var <name=value>', 'a variable, as with run; may be repeated').argParser(collectPairs),
      option('--strict', 'warnings are faults'),
    ],
    settings: SCRIPT_SETTINGS,
    defaults: SCRIPT_DEFAULTS,
    help: `  pungi test validate server.test.yaml
  pungi test validate specs/*.yaml --json

Each fault and warning names file, line and column, what is wrong, and what was probably meant.
Files that a specification includes, its schemas and its scripts are looked at as well: Python is
compiled in the sandbox, and none of it is run.`,
    async run({ style }, flags, specs) {
      const { validSpecs } = await import('./validate-specs.js');
      const { isValid, json, text } = await validSpecs(specs, flags, style);
      return { json, text, status: isValid ? 0 : USAGE };
    },
  });
