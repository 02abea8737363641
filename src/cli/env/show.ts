import type { Command } from 'commander';
import { agoText, oneLine, type Style, sizeText } from '../../base/terminal.js';
import type { EnvironmentInfo, PackageInfo } from '../../contract/environment.js';
import { type End, subcommand } from './subcommand.js';

export const show = (end: End): Command =>
  subcommand<[name: string | undefined]>('show', end, {
    about: 'show everything about one environment',
    operands: [['[name]', 'the default one if not given']],
    help: `  pungi env show ml
  pungi env show --json`,
    async run({ pungi, steps, style }, _, name) {
      const info = await pungi.environments.show(name);
      const packages = info.state === 'damaged' ? [] : await pungi.packages(name, steps);
      return { json: { ...info, packages }, text: describe(info, packages, style) };
    },
  });

function describe(info: EnvironmentInfo, packages: readonly PackageInfo[], style: Style): string {
  const facts = factsOf(info).filter(([, value]) => value !== '');
  const width = Math.max(...facts.map(([label]) => label.length));
  const nameWidth = Math.max(0, ...packages.map(({ name }) => name.length));
  return [
    style('bold', info.venvName),
    ...facts.map(([label, value]) => `  ${style('dim', label.padEnd(width))}  ${value}`),
    ...(packages.length === 0 ? [] : [`  ${style('dim', `Packages (${packages.length})`)}`]),
    ...packages.map(({ name, version }) => `    ${name.padEnd(nameWidth)}  ${version}`),
    '',
  ].join('\n');
}

function factsOf(info: EnvironmentInfo): [label: string, value: string][] {
  const { state, isDefault, isInline, path, sizeMb, sharedMb, created, lastUsed } = info;
  const made = state !== 'damaged' && path !== null;
  const roles = [isDefault ? 'the default' : '', isInline ? 'made for scripts' : ''];
  return [
    [
      'State',
      state === 'damaged'
        ? 'damaged: create it again, or delete it'
        : [state, ...roles].filter(Boolean).join(', '),
    ],
    ['Description', oneLine(info.description)],
    ['Python', info.pythonVersion],
    ['Folder', path ?? ''],
    ['Requested', oneLine(info.requested.join(', '))],
    ['Size', made ? `${sizeText(sizeMb)}, of which ${sizeText(sharedMb)} shared` : ''],
    ['Created', created === null ? '' : timeText(created)],
    ['Last used', made ? (lastUsed === null ? 'never' : timeText(lastUsed)) : ''],
  ];
}

const timeText = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC (${agoText(iso)})`;
