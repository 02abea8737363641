import type { Command } from 'commander';
import { agoText, countText, oneLine, sizeText } from '../../base/terminal.js';
import type { EnvironmentInfo } from '../../contract/environment.js';
import type { Parsed } from '../act.js';
import { type Column, tableOf } from '../terminal/table.js';
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

export const list = (end: End): Command =>
  subcommand<[], Flags>('list', end, {
    about: 'show the environments',
    operands: [],
    options: [option('-a, --all', 'also those made for the inline dependencies of scripts')],
    help: `  pungi env list
  pungi env list --all --json

The one marked with * is the default: runs that name no environment use it.
SHARED is the part of the size that other environments or the cache have as well (hard links).`,
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
      const table = tableOf(COLUMNS, shown.map(row), { style, width });
      return { json: shown, text: `${table}${style('dim', more)}` };
    },
  });

function row(info: EnvironmentInfo): string[] {
  const { venvName, isDefault, pythonVersion, packageCount, sizeMb, sharedMb, path, state } = info;
  const mark = isDefault ? '*' : '';
  if (state === 'damaged') {
    return [mark, venvName, '', '', '', '', '', 'damaged: create it again, or delete it'];
  }
  const description = oneLine(info.description);
  if (path === null) return [mark, venvName, pythonVersion, String(packageCount), '', '', '', description];
  const facts = [String(packageCount), sizeText(sizeMb), sizeText(sharedMb), agoText(info.lastUsed)];
  return [mark, venvName, pythonVersion, ...facts, state === 'preparing' ? 'being made' : description];
}
