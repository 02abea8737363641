import type { Command } from 'commander';
import { PungiError } from '../../base/errors.js';
import { revealedLine } from '../../base/terminal.js';
import type { Parsed } from '../act.js';
import { DAMAGED } from '../exit-codes.js';
import { describe } from './describe.js';
import { type End, findEntry, option, subcommand, WHICH, withReader } from './subcommand.js';

interface Flags extends Parsed {
  lock?: boolean;
}

export const show = (end: End): Command =>
  subcommand<[which: string], Flags>('show', end, {
    about: 'show all of one entry, its code included',
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
