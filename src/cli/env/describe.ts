import type { Command } from 'commander';
import { type End, subcommand } from './subcommand.js';

export const describe = (end: End): Command =>
  subcommand<[name: string, text: string]>('describe', end, {
    about: 'set the description of an environment',
    operands: [
      ['<name>', 'the environment'],
      ['<text>', 'what it is for; "" for nothing'],
    ],
    help: "  pungi env describe ml 'for the reports'",
    async run({ pungi, steps }, _, name, text) {
      const environment = await pungi.environments.setDescription(name, text, steps);
      return { json: environment, text: `The environment "${name}" has a new description.\n` };
    },
  });
