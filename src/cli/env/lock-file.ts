import type { Command } from 'commander';
import { countText } from '../../base/terminal.js';
import type { Parsed } from '../act.js';
import { asText, readOwnFile, readStdin } from '../own-input.js';
import { replaceableFile, writeOwnFile } from '../own-output.js';
import { type End, INSTALLING, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  output?: string;
  force?: boolean;
}

export const exportCommand = (end: End): Command =>
  subcommand<[name: string | undefined], Flags>('export', end, {
    about: 'write a lock file: all packages, with version and hashes',
    operands: [['[name]', 'the default one if not given']],
    options: [
      option('-o, --output <file>', 'write to this file instead of standard output'),
      option('-f, --force', 'replace the file if it exists'),
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env export ml > ml.lock
  pungi env export ml -o ml.lock --force

The file is for "pungi env import", and uv and pip can install from it, too.`,
    async run({ pungi, steps }, { output, force = false }, name) {
      const toFile = output !== undefined && output !== '-';
      // Asked before the work, too: a refusal should not take its time.
      if (toFile) replaceableFile(output, force);
      const lock = await pungi.environments.export(name, steps);
      if (toFile) writeOwnFile(output, lock, force);
      const venvName = name ?? pungi.environments.defaultName;
      const json = { venvName, file: toFile ? output : null, lock };
      return { json, text: toFile ? `Wrote ${output}.\n` : lock };
    },
  });

interface ImportFlags extends Parsed {
  description?: string;
}

export const importCommand = (end: End): Command =>
  subcommand<[name: string, file: string], ImportFlags>('import', end, {
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
