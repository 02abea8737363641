import type { Command } from 'commander';
import type { Profile } from '../../contract/profile.js';
import { loadProfiles } from '../../gate/profiles/load-profiles.js';
import { readConfig } from '../config-flags.js';
import { oneLine } from '../terminal/printable.js';
import { type Column, tableOf } from '../terminal/table.js';
import { environmentText, networkText } from './describe.js';
import { type End, subcommand } from './subcommand.js';

const COLUMNS: readonly Column[] = [
  { heading: '' },
  { heading: 'NAME' },
  { heading: 'ENVIRONMENT' },
  { heading: 'NETWORK' },
  { heading: 'CALLERS' },
  { heading: 'FROM' },
  { heading: 'DESCRIPTION' },
];

export const list = (end: End): Command =>
  subcommand<[]>('list', end, {
    about: 'show the profiles',
    operands: [],
    help: `  pungi profile list
  pungi profile list --profiles-file team.yaml --json

The one marked with * is the default: runs that name no profile use it.
CALLERS says whether a caller may use it (ALLOWED_PROFILES).`,
    async run({ style, width }, flags) {
      const config = readConfig(flags);
      const profiles = loadProfiles(config);
      const rows = profiles.all.map((profile) => ({
        ...profile,
        isDefault: profile.name === config.defaultProfile,
        mayUse: profiles.mayUse(profile.name),
      }));
      return { json: rows, text: tableOf(COLUMNS, rows.map(row), { style, width }) };
    },
  });

function row(profile: Profile & { isDefault: boolean; mayUse: boolean }): string[] {
  return [
    profile.isDefault ? '*' : '',
    profile.name,
    environmentText(profile),
    networkText(profile),
    profile.mayUse ? 'yes' : 'no',
    profile.origin,
    oneLine(profile.description),
  ];
}
