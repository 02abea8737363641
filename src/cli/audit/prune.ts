import type { Command } from 'commander';
import { AuditTrail } from '../../audit/audit-trail.js';
import { auditFolder } from '../../audit/settings.js';
import { PungiError } from '../../base/errors.js';
import { silentLogger } from '../../base/logger.js';
import { countText } from '../../base/terminal.js';
import type { Parsed } from '../act.js';
import { readConfig } from '../config-flags.js';
import { ask, canAsk } from '../terminal.js';
import { type End, option, parseTime, subcommand, timeText, withReader } from './subcommand.js';

interface Flags extends Parsed {
  before: Date;
  yes?: boolean;
}

export const prune = (end: End): Command =>
  subcommand<[], Flags>('prune', end, {
    about: 'remove old entries, after a question',
    options: [
      option('--before <time>', 'older than this: ISO 8601, or "90d" for so long ago')
        .argParser((text) => parseTime(text))
        .makeOptionMandatory(),
      option('-y, --yes', 'do not ask'),
    ],
    help: `  pungi audit prune --before 365d
  pungi audit prune --before 2026-01-01 --yes

What is left can be verified as before, and that entries were removed is itself an entry. AUDIT_RETENTION_DAYS lets
servers do this by themselves.`,
    async run({ steps }, flags) {
      const { before, yes = false } = flags;
      // Asked first: there must be a trail, and none is made here.
      const count = await withReader(flags, (reader) => reader.countBefore(before));
      const from = `from before ${timeText(before.toISOString())} UTC`;
      if (count === 0) return { json: { removed: 0 }, text: `There is no entry ${from}.\n` };
      if (!yes) await confirm(`Remove ${countText(count, 'entry', 'entries')} ${from}?`, steps.signal);
      const { removed } = await removeFrom(flags);
      return { json: { removed }, text: `Removed ${countText(removed, 'entry', 'entries')}.\n` };
    },
  });

async function removeFrom({ before, ...flags }: Flags): Promise<{ removed: number }> {
  const config = readConfig(flags);
  const settings = { folder: auditFolder(config), sync: config.auditSync, storeCode: config.auditStoreCode };
  const trail = await AuditTrail.open({ ...settings, retentionDays: null }, silentLogger);
  try {
    const pruned = await trail.prune(before, 'cli');
    await trail.compact();
    return pruned;
  } finally {
    await trail.close();
  }
}

async function confirm(question: string, signal: AbortSignal): Promise<void> {
  if (!canAsk())
    throw new PungiError('INVALID_INPUT', 'There is no terminal to ask on: confirm the removal with --yes.');
  const answer = await ask(`${question} This cannot be undone. [y/N] `, signal);
  if (!/^y(es)?$/i.test(answer)) throw new PungiError('CANCELLED', 'Nothing was removed.');
}
