import { InvalidArgumentError } from 'commander';
import { subcommandsOf } from '../subcommands.js';

export { type End, option } from '../subcommands.js';

/** Those of the commands that test servers. */
const EXIT_CODES = `
Exit codes:
  0    everything passed; lint: no errors; fuzz: nothing found; else: done
  1    something failed, or a server could not be tested; lint: errors; fuzz: something found
  2    the command, a specification or the configuration is not valid
  69   unavailable: no interpreter or no sandbox for the validation scripts
  70   an error inside Pungi
  130  cancelled (Ctrl-C)`;

export const FAILED = 1;

/** One command of `pungi test`. */
export const subcommand = subcommandsOf({ settings: [], exitCodes: EXIT_CODES, cancelled: 'Cancelled.' });

/** For options that may be repeated. */
export const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

/** A whole number from the least on. */
export const wholeFrom =
  (least: number, most = 1_000_000_000) =>
  (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
  };

/** NAME=VALUE, repeated. */
export function collectPairs(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be of the form NAME=VALUE');
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

/** NAME=VALUE, or as they are written elsewhere: "NAME: VALUE". */
export function collectHeaders(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)(?:=|:\s*)(.*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('must be of the form NAME=VALUE or "NAME: VALUE"');
  return { ...earlier, [name]: value! };
}

export const collectWords = (text: string, earlier: string[] = []): string[] => [
  ...earlier,
  ...text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
];
