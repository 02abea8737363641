import { Command, Option } from 'commander';
import { auditFolder } from '../../audit/settings.js';
import { openTrailForReading, type TrailReader } from '../../audit/trail-reader.js';
import { PungiError } from '../../base/errors.js';
import type { OptionName } from '../../config/schema.js';
import type { AuditEntry } from '../../contract/audit.js';
import { type Answer, answer, type Parsed, type Surroundings } from '../act.js';
import { addConfigFlags, readConfig } from '../config-flags.js';
import { AUDIT_EXIT_CODES_HELP } from '../exit-codes.js';

export type End = (status: number) => void;

interface Subcommand<Operands extends unknown[], Flags extends Parsed> {
  about: string;
  operands?: [name: string, about: string][];
  options?: Option[];
  settings?: readonly OptionName[];
  help: string;
  run(surroundings: Surroundings, flags: Flags, ...operands: Operands): Promise<Answer>;
}

/** One command of `pungi audit`, with the flags and the behaviour that all of them have. */
export function subcommand<Operands extends unknown[], Flags extends Parsed = Parsed>(
  name: string,
  end: End,
  { about, operands = [], options = [], settings = [], help, run }: Subcommand<Operands, Flags>,
): Command {
  const command = new Command(name).description(about);
  for (const [operand, meaning] of operands) command.argument(operand, meaning);
  for (const option of options) command.addOption(option);
  command.option('--json', 'print the result as JSON on standard output, and nothing else');
  addConfigFlags(command, ['auditDir', ...settings]);
  command.addHelpText('after', `\nExamples:\n${help}\n${AUDIT_EXIT_CODES_HELP}`);
  return command.action(async () => {
    const flags = command.opts<Flags>();
    end(
      await answer(flags, (surroundings) => run(surroundings, flags, ...(command.processedArgs as Operands))),
    );
  });
}

export const option = (flags: string, about: string): Option => new Option(flags, about);

/** Looks into the trail; nothing is written, whoever else may be writing it. */
export async function withReader<T>(
  flags: Parsed,
  work: (reader: TrailReader) => T | Promise<T>,
): Promise<T> {
  const reader = await openTrailForReading(auditFolder(readConfig(flags)));
  try {
    return await work(reader);
  } finally {
    reader.close();
  }
}

export const WHICH: [name: string, about: string] = [
  '<entry|run>',
  'the number of the entry, the id of the run, or "last" for the newest run',
];

export function findEntry(reader: TrailReader, which: string): AuditEntry {
  const isNumber = /^\d{1,15}$/.test(which);
  const [newest] = which === 'last' ? reader.list({ kind: 'run', limit: 1 }) : [];
  const entry = newest ?? reader.get(isNumber ? Number(which) : which);
  if (entry !== undefined) return entry;
  const what = isNumber ? `no entry ${which}` : which === 'last' ? 'no run' : `no run "${which}"`;
  throw new PungiError('INVALID_INPUT', `There is ${what} in the audit trail in ${reader.folder}.`);
}
