import { countText } from '@pungi/core/base';
import { Command } from 'commander';
import type { Parsed } from '../act.js';
import { asText, readOwnFile, readStdin, replaceableFile, writeOwnFile } from '../own-files.js';
import { reportText } from '../run-output.js';
import { clean, deleteCommand } from './delete.js';
import { list, show } from './list.js';
import { type End, INSTALLING, option, subcommand } from './subcommand.js';

const HELP = `
An environment is a named Python with its own packages. Runs choose it by name:
pungi run --env ml script.py
Scripts that declare their packages (PEP 723, "# /// script") need none: theirs is created at the
first run.
All commands accept --json, and changes are atomic, even when a command is killed.

Examples:
  pungi env create ml numpy 'pandas>=2' --description 'for the reports'
  pungi env install ml scikit-learn
  pungi run --env ml report.py
  pungi env export ml -o ml.lock
  pungi env import ml2 ml.lock`;

/** `pungi env …`: the named environments. */
export function envCommand(end: End): Command {
  const command = new Command('env')
    .description('create, fill, share and delete named environments')
    .addHelpText('after', HELP);
  const commands = [
    create,
    list,
    show,
    install,
    remove,
    describe,
    clone,
    exportCommand,
    importCommand,
    deleteCommand,
    clean,
  ];
  for (const make of commands) command.addCommand(make(end));
  return command;
}

interface Flags extends Parsed {
  description?: string;
  python?: string;
}

const create = (end: End): Command =>
  subcommand<[name: string, packages: string[]], Flags>('create', end, {
    about: 'create an environment',
    operands: [
      ['<name>', 'its name: letters, digits, "_" and "-"'],
      ['[packages...]', 'what to install into it, such as numpy or "pandas>=2"'],
    ],
    options: [
      option('-d, --description <text>', 'what it is for'),
      option('--python <version>', 'a version installed on this machine, such as 3.12'),
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

const describe = (end: End): Command =>
  subcommand<[name: string, text: string]>('describe', end, {
    about: 'set the description of an environment',
    operands: [
      ['<name>', 'the environment'],
      ['<text>', 'what it is for; "" removes it'],
    ],
    help: "  pungi env describe ml 'for the reports'",
    async run({ pungi, steps }, _, name, text) {
      const environment = await pungi.environments.setDescription(name, text, steps);
      return { json: environment, text: `The environment "${name}" has a new description.\n` };
    },
  });

interface CloneFlags extends Parsed {
  description?: string;
}

const clone = (end: End): Command =>
  subcommand<[from: string, to: string], CloneFlags>('clone', end, {
    about: 'copy an environment, sharing its files',
    operands: [
      ['<from>', 'the existing environment'],
      ['<to>', 'the name of the new one'],
    ],
    options: [option('-d, --description <text>', 'what the new one is for; default: as the original')],
    settings: ['maxEnvironments'],
    help: '  pungi env clone ml ml-next',
    async run({ pungi, steps }, { description }, from, to) {
      const environment = await pungi.environments.clone({ from, to, description }, steps);
      return { json: environment, text: `Cloned the environment "${from}" as "${to}".\n` };
    },
  });

interface InstallFlags extends Parsed {
  upgrade?: boolean;
}

const install = (end: End): Command =>
  subcommand<[name: string, packages: string[]], InstallFlags>('install', end, {
    about: 'install packages into an environment',
    operands: [
      ['<name>', 'the environment; always given'],
      ['<packages...>', 'requirements, such as numpy, "pandas>=2" or "fastapi[standard]"'],
    ],
    options: [option('-U, --upgrade', 'take the newest versions; default: keep what satisfies the request')],
    settings: INSTALLING,
    help: `  pungi env install ml numpy 'pandas>=2'
  pungi env install ml pandas --upgrade
  pungi env install default requests

All of them are installed, or none: the environment stays as it was when one cannot be installed.
Wheels of the index only, unless PACKAGE_SOURCES allows more.`,
    async run({ pungi, steps, style }, { upgrade }, name, packages) {
      steps.onStep(`Installing ${packages.join(', ')} into "${name}".`);
      const report = await pungi.environments.install(name, packages, { ...steps, upgrade });
      return { json: report, text: reportText(report, style) };
    },
  });

const remove = (end: End): Command =>
  subcommand<[name: string, packages: string[]]>('remove', end, {
    about: 'remove packages from an environment',
    operands: [
      ['<name>', 'the environment; always given'],
      ['<packages...>', 'names without versions'],
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env remove ml pandas

Refused if a remaining package needs them.`,
    async run({ pungi, steps, style }, _, name, packages) {
      steps.onStep(`Removing ${packages.join(', ')} from "${name}".`);
      const report = await pungi.environments.uninstall(name, packages, steps);
      return { json: report, text: reportText(report, style) };
    },
  });

interface ExportFlags extends Parsed {
  output?: string;
  force?: boolean;
}

const exportCommand = (end: End): Command =>
  subcommand<[name: string | undefined], ExportFlags>('export', end, {
    about: 'write a lock file: all packages, with version and hashes',
    operands: [['[name]', 'default: the default environment']],
    options: [
      option('-o, --output <file>', 'write to this file instead of standard output'),
      option('-f, --force', 'replace the file if it exists'),
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env export ml > ml.lock
  pungi env export ml -o ml.lock --force

"pungi env import", uv and pip can install from the file.`,
    async run({ pungi, steps }, { output, force = false }, name) {
      const toFile = output !== undefined && output !== '-';
      // Checked before the work as well, so that a refusal is immediate.
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

const importCommand = (end: End): Command =>
  subcommand<[name: string, file: string], ImportFlags>('import', end, {
    about: 'create an environment from a lock file',
    operands: [
      ['<name>', 'the name of the new environment'],
      ['<file>', 'the lock file, or "-" for standard input'],
    ],
    options: [option('-d, --description <text>', 'what it is for; default: as in the file')],
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
