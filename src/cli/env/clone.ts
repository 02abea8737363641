import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  description?: string;
}

export const clone = (end: End): Command =>
  subcommand<[from: string, to: string], Flags>('clone', end, {
    about: 'make a new environment like another, sharing its files',
    operands: [
      ['<from>', 'the environment that is there'],
      ['<to>', 'the name of the new one'],
    ],
    options: [option('-d, --description <text>', 'what the new one is for; else as the other')],
    settings: ['maxEnvironments'],
    help: '  pungi env clone ml ml-next',
    async run({ pungi, steps }, { description }, from, to) {
      const environment = await pungi.environments.clone({ from, to, description }, steps);
      return { json: environment, text: `Cloned the environment "${from}" as "${to}".\n` };
    },
  });
