import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { replaceableFile, writeOwnFile } from '../own-output.js';
import { type End, option, subcommand } from './subcommand.js';

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
