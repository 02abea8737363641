import type { Pungi } from '@pungi/core';
import { countText, PungiError, sizeText } from '@pungi/core/base';
import type { CleanReport, EnvironmentInfo } from '@pungi/core/contract';
import { type Command, InvalidArgumentError } from 'commander';
import type { Parsed } from '../act.js';
import { ask, canAsk } from '../terminal.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  yes?: boolean;
  yesDefault?: boolean;
  wait?: boolean;
}

export const deleteCommand = (end: End): Command =>
  subcommand<[name: string], Flags>('delete', end, {
    about: 'delete an environment, after confirmation',
    operands: [['<name>', 'the environment']],
    options: [
      option('-y, --yes', 'do not ask'),
      option('--yes-default', 'do not ask a second time for the default environment'),
      option('--wait', 'wait until nothing uses it, instead of refusing'),
    ],
    help: `  pungi env delete old
  pungi env delete old --yes --wait
  pungi env delete default --yes --yes-default

Without a terminal to ask on, --yes is required. A deleted default environment is
empty again.`,
    async run({ pungi, steps }, flags, venvName) {
      const info = await pungi.environments.show(venvName);
      if (info.created === null && info.path === null) {
        throw new PungiError(
          'ENVIRONMENT_NOT_FOUND',
          `"${venvName}" is empty: nothing was installed into it, so there is nothing to delete.`,
        );
      }
      await confirm(info, flags, steps.signal);
      await pungi.environments.delete(
        { venvName, confirm: true, confirmDefault: true, wait: flags.wait },
        steps,
      );
      return { json: { deleted: venvName }, text: `Deleted the environment "${venvName}".\n` };
    },
  });

/** Asks once, and twice for the default environment. Rejects unless every answer is yes. */
async function confirm(info: EnvironmentInfo, flags: Flags, signal: AbortSignal): Promise<void> {
  const { venvName, isDefault } = info;
  if (!flags.yes) {
    const question = `Delete the environment "${venvName}" (${contents(info)})? This cannot be undone. [y/N] `;
    await insist('--yes', signal, question, (answer) => /^y(es)?$/i.test(answer));
  }
  if (isDefault && !flags.yesDefault) {
    const question = `"${venvName}" is the default environment: it is used by runs that name none. Type its name to delete it: `;
    await insist('--yes-default', signal, question, (answer) => answer === venvName);
  }
}

async function insist(
  flag: string,
  signal: AbortSignal,
  question: string,
  agrees: (answer: string) => boolean,
): Promise<void> {
  if (!canAsk()) {
    throw new PungiError(
      'INVALID_INPUT',
      `There is no terminal to ask on: confirm the deletion with ${flag}.`,
    );
  }
  if (!agrees(await ask(question, signal))) throw new PungiError('CANCELLED', 'Nothing was deleted.');
}

const contents = ({ state, packageCount, sizeMb }: EnvironmentInfo) =>
  state === 'damaged' ? 'damaged' : `${countText(packageCount, 'package')}, ${sizeText(sizeMb)}`;

interface CleanFlags extends Parsed {
  unusedFor?: number;
  dryRun?: boolean;
  yes?: boolean;
}

export const clean = (end: End): Command =>
  subcommand<[], CleanFlags>('clean', end, {
    about: 'remove what is damaged or no longer used',
    operands: [],
    options: [
      option('--unused-for <days>', 'also environments not used for this many days').argParser(parseDays),
      option('-n, --dry-run', 'only show what would be removed'),
      option('-y, --yes', 'do not ask before named environments are removed'),
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env clean
  pungi env clean --unused-for 90 --dry-run

Removes damaged environments, those of scripts that were not used for 30 days, and unneeded cache
entries. The default environment and any in use stay.`,
    async run({ pungi, steps }, { unusedFor, dryRun = false, yes = false }) {
      if (unusedFor !== undefined && !dryRun && !yes) await confirmClean(pungi, unusedFor, steps.signal);
      steps.onStep('Looking for unused environments.');
      const report = await pungi.environments.clean({ unusedForDays: unusedFor, dryRun }, steps);
      return { json: report, text: describe(report) };
    },
  });

/** Named environments are not created again automatically. */
async function confirmClean(pungi: Pungi, unusedForDays: number, signal: AbortSignal): Promise<void> {
  const { removed } = await pungi.environments.clean({ unusedForDays, dryRun: true });
  if (removed.length === 0) return;
  const names = removed.map(({ venvName }) => `"${venvName}"`).join(', ');
  if (!canAsk()) throw new PungiError('INVALID_INPUT', `This would remove ${names}: confirm it with --yes.`);
  const answer = await ask(`Remove ${names}? This cannot be undone. [y/N] `, signal);
  if (!/^y(es)?$/i.test(answer)) throw new PungiError('CANCELLED', 'Nothing was removed.');
}

function parseDays(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new InvalidArgumentError('must be a whole number of days, at least 1');
  return Number(text);
}

function describe({ removed, dryRun }: CleanReport): string {
  if (removed.length === 0) return `There is no environment to ${dryRun ? 'remove' : 'clean up'}.\n`;
  const freed = removed.reduce((sum, { freedMb }) => sum + freedMb, 0);
  const rows = removed.map(
    ({ venvName, reason, freedMb }) => `  ${venvName}  ${reason}, ${sizeText(freedMb)}\n`,
  );
  const what = `${dryRun ? 'Would remove' : 'Removed'} ${countText(removed.length, 'environment')}`;
  return `${rows.join('')}${what}, ${sizeText(freed)}${dryRun ? '' : ' freed'}.\n`;
}
