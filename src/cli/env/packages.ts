import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { reportText } from '../package-results.js';
import { type End, INSTALLING, option, subcommand } from './subcommand.js';

interface InstallFlags extends Parsed {
  upgrade?: boolean;
}

export const install = (end: End): Command =>
  subcommand<[name: string, packages: string[]], InstallFlags>('install', end, {
    about: 'install packages into an environment',
    operands: [
      ['<name>', 'the environment; always given'],
      ['<packages...>', 'requirements, such as numpy, "pandas>=2" or "fastapi[standard]"'],
    ],
    options: [option('-U, --upgrade', 'take the newest versions; else what is there stays if it will do')],
    settings: INSTALLING,
    help: `  pungi env install ml numpy 'pandas>=2'
  pungi env install ml pandas --upgrade
  pungi env install default requests

All of them are installed, or none: the environment stays as it was when one cannot be had.
Wheels of the index only, unless PACKAGE_SOURCES allows more.`,
    async run({ pungi, steps, style }, { upgrade }, name, packages) {
      steps.onStep(`Installing ${packages.join(', ')} into "${name}".`);
      const report = await pungi.environments.install(name, packages, { ...steps, upgrade });
      return { json: report, text: reportText(report, style) };
    },
  });

export const remove = (end: End): Command =>
  subcommand<[name: string, packages: string[]]>('remove', end, {
    about: 'remove packages from an environment',
    operands: [
      ['<name>', 'the environment; always given'],
      ['<packages...>', 'names without versions'],
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env remove ml pandas

Refused where something that stays needs them.`,
    async run({ pungi, steps, style }, _, name, packages) {
      steps.onStep(`Removing ${packages.join(', ')} from "${name}".`);
      const report = await pungi.environments.uninstall(name, packages, steps);
      return { json: report, text: reportText(report, style) };
    },
  });
