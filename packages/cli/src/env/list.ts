import { agoText, countText, oneLine, type Style, sizeText } from '@pungi/core/base';
import type { EnvironmentInfo, PackageInfo } from '@pungi/core/contract';
import type { Command } from 'commander';
import type { Parsed } from '../act.js';
import { type Column, tableOf } from '../terminal.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  all?: boolean;
}

const COLUMNS: readonly Column[] = [
  { heading: '' },
  { heading: 'NAME' },
  { heading: 'PYTHON' },
  { heading: 'PACKAGES', align: 'right' },
  { heading: 'SIZE', align: 'right' },
  { heading: 'SHARED', align: 'right' },
  { heading: 'LAST USED' },
  { heading: 'DESCRIPTION' },
];

/** In a cluster, the workers that have it. */
const WARM_ON: Column = { heading: 'WARM ON' };

export const list = (end: End): Command =>
  subcommand<[], Flags>('list', end, {
    about: 'show the environments',
    operands: [],
    options: [option('-a, --all', 'include environments created for inline dependencies of scripts')],
    help: `  pungi env list
  pungi env list --all --json

The one marked with * is the default: runs that name no environment use it.
SHARED is the part of the size shared with other environments or the cache (hard links).
With --cluster, WARM ON names the workers that have built it; others do so when they first need it.`,
    async run({ pungi, style, width }, { all = false }) {
      const found = await pungi.environments.list();
      const shown = found
        .filter(({ isInline, state }) => all || !isInline || state === 'damaged')
        .sort(
          (one, other) =>
            Number(other.isDefault) - Number(one.isDefault) || (one.venvName < other.venvName ? -1 : 1),
        );
      const hidden = found.length - shown.length;
      const more = hidden === 0 ? '' : `${countText(hidden, 'environment')} of scripts not shown: --all\n`;
      const isCluster = shown.some(({ warmOn }) => warmOn !== undefined);
      const columns = isCluster ? COLUMNS.toSpliced(-1, 0, WARM_ON) : COLUMNS;
      const rows = shown.map((info) =>
        isCluster ? row(info).toSpliced(-1, 0, (info.warmOn ?? []).join(', ')) : row(info),
      );
      const table = tableOf(columns, rows, { style, width });
      return { json: shown, text: `${table}${style('dim', more)}` };
    },
  });

function row(info: EnvironmentInfo): string[] {
  const { venvName, isDefault, pythonVersion, packageCount, sizeMb, sharedMb, path, created, state } = info;
  const mark = isDefault ? '*' : '';
  if (state === 'damaged') {
    return [mark, venvName, '', '', '', '', '', 'damaged: create it again, or delete it'];
  }
  const description = oneLine(info.description);
  if (path === null && created === null)
    return [mark, venvName, pythonVersion, String(packageCount), '', '', '', description];
  const facts = [String(packageCount), sizeText(sizeMb), sizeText(sharedMb), agoText(info.lastUsed)];
  return [mark, venvName, pythonVersion, ...facts, state === 'preparing' ? 'being created' : description];
}

export const show = (end: End): Command =>
  subcommand<[name: string | undefined]>('show', end, {
    about: 'show everything about one environment',
    operands: [['[name]', 'default: the default environment']],
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
  const made = state !== 'damaged' && created !== null;
  const roles = [isDefault ? 'the default' : '', isInline ? 'created for scripts' : ''];
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
    ['Warm on', info.warmOn?.join(', ') ?? ''],
    ['Requested', oneLine(info.requested.join(', '))],
    ['Size', made ? `${sizeText(sizeMb)}, of which ${sizeText(sharedMb)} shared` : ''],
    ['Created', created === null ? '' : timeText(created)],
    ['Last used', made ? (lastUsed === null ? 'never' : timeText(lastUsed)) : ''],
  ];
}

const timeText = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC (${agoText(iso)})`;
