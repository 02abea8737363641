import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { reportText } from '../package-results.js';
import { type End, INSTALLING, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  description?: string;
  python?: string;
}

export const create = (end: End): Command =>
  subcommand<[name: string, packages: string[]], Flags>('create', end, {
    about: 'make a new environment',
    operands: [
      ['<name>', 'its name: letters, digits, "_" and "-"'],
      ['[packages...]', 'what to install into it, such as numpy or "pandas>=2"'],
    ],
    options: [
      option('-d, --description <text>', 'what it is for'),
      option('--python <version>', 'a version that is on this machine, such as 3.12'),
    ],
    settings: INSTALLING,
    help: `  pungi env create ml
  pungi env create ml numpy 'pandas>=2' --description 'for the reports'
  pungi env create old --python 3.10`,
    async run({ pungi, steps, style }, { description, python }, venvName, packages) {
      const made = await pungi.environments.create(
        { venvName, description, pythonVersion: python, packages },
        steps,
      );
      const { environment, report } = made;
      const packagesText = report === null ? '' : reportText(report, style);
      const text = `${packagesText}Created the environment "${venvName}" with Python ${environment.pythonVersion}.\n`;
      return { json: made, text };
    },
  });
