import type { Command } from 'commander';
import { countText } from '../../base/terminal.js';
import type { Parsed } from '../act.js';
import { asText, readOwnFile, readStdin } from '../own-input.js';
import { type End, INSTALLING, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  description?: string;
}

export const importCommand = (end: End): Command =>
  subcommand<[name: string, file: string], Flags>('import', end, {
    about: 'make a new environment of exactly what a lock file names',
    operands: [
      ['<name>', 'the name of the new environment'],
      ['<file>', 'the lock file, or "-" for standard input'],
    ],
    options: [option('-d, --description <text>', 'what it is for; else as the file says')],
    settings: INSTALLING,
    help: `  pungi env import ml ml.lock
  pungi env export ml | pungi env import ml2 -`,
    async run({ pungi, steps }, { description }, venvName, file) {
      const lock =
        file === '-'
          ? asText(await readStdin(steps.signal), 'Standard input')
          : asText(readOwnFile(file), file);
      const environment = await pungi.environments.import({ venvName, lock, description }, steps);
      const { packageCount, pythonVersion } = environment;
      const text = `Created the environment "${venvName}" with ${countText(packageCount, 'package')} and Python ${pythonVersion}.\n`;
      return { json: environment, text };
    },
  });
