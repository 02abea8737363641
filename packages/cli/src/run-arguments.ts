import { Command } from 'commander';

/**
 * A command whose options end at its script, as those of `python` do: at the file, or after `-c CODE`. Everything that follows
 * belongs to the script.
 */
export class ArgumentsAfterCode extends Command {
  override parseOptions(args: string[]): { operands: string[]; unknown: string[] } {
    const end = this.#endOfCode(args);
    return super.parseOptions(end < 0 ? args : [...args.slice(0, end), '--', ...unmarked(args.slice(end))]);
  }

  /** Returns where the arguments of `-c CODE` begin; -1 if a file, or nothing, comes first. */
  #endOfCode(args: readonly string[]): number {
    for (let at = 0; at < args.length; at += 1) {
      const arg = args[at]!;
      if (arg === '--' || arg === '-' || !arg.startsWith('-')) return -1;
      // Without code after it, Commander says what is missing.
      if (arg === '-c' || arg === '--code') return at + 1 < args.length ? at + 2 : -1;
      if (/^(-c|--code=)/.test(arg)) return at + 1;
      const option = this.options.find(({ short, long }) => arg === short || arg === long);
      const next = args[at + 1];
      if (option?.required || (option?.optional && next !== undefined && !next.startsWith('-'))) at += 1;
    }
    return -1;
  }
}

/** Removes the `--` that may stand between a script and its arguments. */
export const unmarked = (args: readonly string[]): string[] => args.slice(args[0] === '--' ? 1 : 0);

/**
 * Reports options of Pungi that follow code which reads no arguments, because it imports nothing: the person expects them to
 * work.
 */
export function noteUnread(code: string | undefined, args: readonly string[], command: Command): void {
  const isOwn = (arg: string) => command.options.some(({ short, long }) => arg === short || arg === long);
  const unread = code === undefined || code.includes('import') ? [] : args.filter(isOwn);
  if (unread.length > 0)
    process.stderr.write(
      `pungi: ${unread.join(' ')} came after the code, as its argument; options come before -c\n`,
    );
}
