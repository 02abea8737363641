import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AuditTrail, auditFolder } from '@pungi/core/audit';
import { countText, PungiError, revealedLine, silentLogger } from '@pungi/core/base';
import { Command } from 'commander';
import type { Parsed } from '../act.js';
import { readConfig } from '../config-flags.js';
import { DAMAGED } from '../exit-codes.js';
import { replaceableFile, writeOwnLines } from '../own-files.js';
import { ask, canAsk } from '../terminal.js';
import { describe } from './describe.js';
import { list } from './list.js';
import { replay } from './replay.js';
import {
  type End,
  type Filters,
  filterOptions,
  findEntry,
  option,
  parseTime,
  queryOf,
  subcommand,
  timeText,
  WHICH,
  withReader,
} from './subcommand.js';
import { verify } from './verify.js';

const HELP = `
Every run, installation, refusal and change of settings is an entry of the audit trail. It is written before the result is
returned, and chained to the entry before. All commands but replay and prune only read, while servers keep writing.

Examples:
  pungi audit list --since 2h --verdict timed-out
  pungi audit show 12
  pungi audit verify
  pungi audit replay 12
  pungi audit export --since 30d -o november.jsonl`;

/** `pungi audit …`: what happened. */
export function auditCommand(end: End): Command {
  const command = new Command('audit')
    .description('list, check, export and replay what was run')
    .addHelpText('after', HELP);
  for (const make of [list, show, verify, exportCommand, replay, prune]) command.addCommand(make(end));
  return command;
}

interface Flags extends Filters {
  output?: string;
  force?: boolean;
}

const exportCommand = (end: End): Command =>
  subcommand<[], Flags>('export', end, {
    about: 'write entries as lines of JSON, the newest first',
    options: [
      ...filterOptions('maximum number; default: all'),
      option('-o, --output <file>', 'write to this file instead of standard output'),
      option('-f, --force', 'replace the file if it exists'),
    ],
    help: `  pungi audit export --since 30d -o november.jsonl
  pungi audit export --verdict denied | wc -l

Standard output contains only the lines, also with --json.`,
    run: ({ steps }, flags) =>
      withReader(flags, async (reader) => {
        const { output, force = false } = flags;
        let entries = 0;
        async function* lines() {
          for await (const line of reader.export(queryOf(flags))) {
            steps.signal.throwIfAborted();
            entries += 1;
            yield line;
          }
        }
        if (output === undefined || output === '-') {
          await print(lines());
          return { text: '' };
        }
        replaceableFile(output, force);
        await writeOwnLines(output, lines(), force);
        const text = `Wrote ${countText(entries, 'entry', 'entries')} to ${output}.\n`;
        return { json: { file: output, entries }, text };
      }),
  });

/** Writes as fast as the reader reads; a reader that goes away, such as `head`, ends the export. */
async function print(lines: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(lines), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

interface ShowFlags extends Parsed {
  lock?: boolean;
}

const show = (end: End): Command =>
  subcommand<[which: string], ShowFlags>('show', end, {
    about: 'show one entry in full, including its code',
    operands: [WHICH],
    options: [option('--lock', 'print the lock file of its environment instead')],
    help: `  pungi audit show last
  pungi audit show 12
  pungi audit show 12 --json
  pungi audit show 12 --lock > then.lock`,
    run: ({ style }, flags, which) =>
      withReader(flags, (reader) => {
        const entry = findEntry(reader, which);
        const problem = reader.problemOf(entry.seq);
        if (!flags.lock) {
          if (problem === undefined) return { json: entry, text: describe(entry, style) };
          const text = `${describe(entry, style)}${style('red', '✗')} ${revealedLine(problem)}\n`;
          return { json: { ...entry, problem }, text, status: DAMAGED };
        }
        if (problem !== undefined) throw new PungiError('AUDIT_DAMAGED', problem);
        const { environmentLock: sha256 = null } = entry.data as { environmentLock?: string | null };
        if (sha256 === null) throw new PungiError('INVALID_INPUT', `Entry ${entry.seq} names no lock file.`);
        const text = reader.lockText(sha256);
        return { json: { sha256, text }, text };
      }),
  });

interface PruneFlags extends Parsed {
  before: Date;
  yes?: boolean;
}

const prune = (end: End): Command =>
  subcommand<[], PruneFlags>('prune', end, {
    about: 'remove old entries, after confirmation',
    options: [
      option('--before <time>', 'older than this: ISO 8601, or "90d" for so long ago')
        .argParser((text) => parseTime(text))
        .makeOptionMandatory(),
      option('-y, --yes', 'do not ask'),
    ],
    help: `  pungi audit prune --before 365d
  pungi audit prune --before 2026-01-01 --yes

The remaining entries can still be verified, and the removal is itself an entry. AUDIT_RETENTION_DAYS lets servers prune
automatically.`,
    async run({ steps }, flags) {
      const { before, yes = false } = flags;
      // Read first: it fails if there is no trail, instead of creating one.
      const count = await withReader(flags, (reader) => reader.countBefore(before));
      const from = `from before ${timeText(before.toISOString())} UTC`;
      if (count === 0) return { json: { removed: 0 }, text: `There is no entry ${from}.\n` };
      if (!yes) await confirm(`Remove ${countText(count, 'entry', 'entries')} ${from}?`, steps.signal);
      const { removed } = await removeFrom(flags);
      return { json: { removed }, text: `Removed ${countText(removed, 'entry', 'entries')}.\n` };
    },
  });

async function removeFrom({ before, ...flags }: PruneFlags): Promise<{ removed: number }> {
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
