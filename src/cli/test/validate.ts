import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { USAGE } from '../exit-codes.js';
import { collectPairs, type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  var?: Record<string, string>;
}

export const validate = (end: End): Command =>
  subcommand<[specs: string[]], Flags>('validate', end, {
    about: 'say all that is wrong with specifications, without starting a server',
    operands: [['<spec...>', 'the specifications, in YAML or JSON']],
    options: [
      option('--var <name=value>', 'a variable, as with run; may be repeated').argParser(collectPairs),
    ],
    help: `  pungi test validate server.test.yaml
  pungi test validate specs/*.yaml --json

Each fault is told with file, line and column, what is wrong, and what was probably meant. Files
that a specification includes, its schemas and its scripts are looked at as well.`,
    async run({ style }, flags, specs) {
      const { validSpecs } = await import('./validate-specs.js');
      const { faults, json, text } = validSpecs(specs, flags.var, style);
      return { json, text, status: faults > 0 ? USAGE : 0 };
    },
  });
