import { countText, oneLine, widthOf } from '@pungi/core/base';
import type { Profile } from '@pungi/core/contract';
import { loadProfiles } from '@pungi/core/gate';
import { Command } from 'commander';
import { readConfig } from '../config-flags.js';
import { tableOf } from '../terminal.js';
import { check } from './check.js';
import { show } from './show.js';
import { type End, subcommand } from './subcommand.js';

const HELP = `
A profile is a named set of rules for runs: what code may import, its limits, its environment,
its data, its network. Your own are in profiles.yaml (or PROFILES_FILE); runs choose one
by name: pungi run --profile diego script.py

Examples:
  pungi profile list
  pungi profile show diego
  pungi profile check profiles.yaml
  pungi profile check --code script.py --profile diego`;

/** `pungi profile …`: the named sets of rules. */
export function profileCommand(end: End): Command {
  const command = new Command('profile')
    .description('list, show and check rules for runs')
    .addHelpText('after', HELP);
  for (const make of [list, show, check]) command.addCommand(make(end));
  return command;
}

type Listed = Profile & { isDefault: boolean; mayUse: boolean };

interface Field {
  heading: string;
  textOf(profile: Listed): string;
}

const FIELDS: readonly Field[] = [
  { heading: '', textOf: ({ isDefault }) => (isDefault ? '*' : '') },
  { heading: 'NAME', textOf: ({ name }) => name },
  { heading: 'ENVIRONMENT', textOf: environmentText },
  { heading: 'NETWORK', textOf: networkText },
  { heading: 'CALLERS', textOf: ({ mayUse }) => (mayUse ? 'yes' : 'no') },
  { heading: 'FROM', textOf: ({ origin }) => origin },
  { heading: 'DESCRIPTION', textOf: ({ description }) => oneLine(description) },
];

const list = (end: End): Command =>
  subcommand<[]>('list', end, {
    about: 'show the profiles',
    operands: [],
    help: `  pungi profile list
  pungi profile list --profiles-file team.yaml --json

The one marked with * is the default: runs that name no profile use it.
CALLERS says whether a caller may use it (ALLOWED_PROFILES). A narrow terminal shows fewer columns.`,
    async run({ style, width }, flags) {
      const config = readConfig(flags);
      const profiles = loadProfiles(config);
      const listed = profiles.all.map((profile) => ({
        ...profile,
        isDefault: profile.name === config.defaultProfile,
        mayUse: profiles.mayUse(profile.name),
      }));
      const fields = fieldsWithin(listed, width);
      const rows = listed.map((profile) => fields.map(({ textOf }) => textOf(profile)));
      return { json: listed, text: tableOf(fields, rows, { style, width }) };
    },
  });

/** The width that a description needs. */
const DESCRIPTION_WIDTH = 32;
/** Columns that give way to the description, in this order; `pungi profile show` has them too. */
const DISPENSABLE = ['FROM', 'NETWORK', 'ENVIRONMENT'];

/** Chooses the columns that fit the terminal. */
export function fieldsWithin(listed: readonly Listed[], width = Number.POSITIVE_INFINITY): readonly Field[] {
  const room = ({ heading, textOf }: Field) =>
    2 + Math.max(heading.length, ...listed.map((profile) => widthOf(textOf(profile))));
  const isTooWide = (fields: readonly Field[]) =>
    fields.slice(0, -1).reduce((sum, field) => sum + room(field), DESCRIPTION_WIDTH) > width;
  let fields = FIELDS;
  for (const heading of DISPENSABLE) {
    if (!isTooWide(fields)) break;
    fields = fields.filter((field) => field.heading !== heading);
  }
  return fields;
}

/** Formats where the runs of a profile take place. */
function environmentText({ environment, packages }: Profile): string {
  if (environment !== null) return environment;
  return packages.length === 0 ? 'any' : countText(packages.length, 'package');
}

function networkText({ allowedHosts: [first, ...others] }: Profile): string {
  if (first === undefined) return 'none';
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}
