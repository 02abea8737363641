import { type Command, InvalidArgumentError } from 'commander';
import { PungiError } from '../../base/errors.js';
import { countText, sizeText } from '../../base/terminal.js';
import type { CleanReport } from '../../contract/environment.js';
import type { Pungi } from '../../pungi.js';
import type { Parsed } from '../act.js';
import { ask, canAsk } from '../terminal/question.js';
import { type End, option, subcommand } from './subcommand.js';

interface Flags extends Parsed {
  unusedFor?: number;
  dryRun?: boolean;
  yes?: boolean;
}

export const clean = (end: End): Command =>
  subcommand<[], Flags>('clean', end, {
    about: 'remove what is damaged or no longer used',
    operands: [],
    options: [
      option('--unused-for <days>', 'also environments that no run has used for so long').argParser(
        parseDays,
      ),
      option('-n, --dry-run', 'only tell what would be removed'),
      option('-y, --yes', 'do not ask before named environments are removed'),
    ],
    settings: ['packageTimeoutMs', 'uv'],
    help: `  pungi env clean
  pungi env clean --unused-for 90 --dry-run

Damaged environments go, and those of scripts that were not used for 30 days, and what the cache
does not need. The default one and any in use stay.`,
    async run({ pungi, steps }, { unusedFor, dryRun = false, yes = false }) {
      if (unusedFor !== undefined && !dryRun && !yes) await confirm(pungi, unusedFor, steps.signal);
      steps.onStep('Looking for what is not used.');
      const report = await pungi.environments.clean({ unusedForDays: unusedFor, dryRun }, steps);
      return { json: report, text: describe(report) };
    },
  });

/** Named environments do not come back by themselves. */
async function confirm(pungi: Pungi, unusedForDays: number, signal: AbortSignal): Promise<void> {
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
