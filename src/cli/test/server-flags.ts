import type { Command, Option } from 'commander';
import type { OptionName } from '../../config/schema.js';
import type { Answer, Surroundings } from '../act.js';
import type { ServerFlags } from './flags.js';
import { collectHeaders, collectPairs, type End, option, subcommand, wholeFrom } from './subcommand.js';

const URL_OPTION = option('--url <url>', 'a server that answers there, over HTTP');
const ENV_OPTION = option(
  '--server-env <name=value>',
  'a variable of its environment; may be repeated',
).argParser(collectPairs);
const HEADER_OPTION = option(
  '--header <name=value>',
  'sent with every request over HTTP; may be repeated',
).argParser(collectHeaders);

/** Those of a server that a client speaks to. */
export const RECORDED_OPTIONS: Option[] = [URL_OPTION, HEADER_OPTION, ENV_OPTION];

const serverOptions = (timeoutMs: number): Option[] => [
  URL_OPTION,
  option('--spec <file>', 'the server of this specification'),
  ENV_OPTION,
  HEADER_OPTION,
  option('--protocol <era>', 'which of the eras of MCP is spoken').choices(['auto', 'legacy', 'modern']),
  option('--sandbox', 'run it in the kernel sandbox, without network'),
  option('--timeout <ms>', 'how long an answer may take')
    .argParser(wholeFrom(1, 86_400_000))
    .default(timeoutMs),
];

/** What follows the first word of the server's command is for the server. */
export const takesCommand = (command: Command): Command =>
  command.usage('[options] [--] <command... | --url url | --spec file>').passThroughOptions();

const TIMEOUT_MS = 30_000;

/** An interpreter enters the sandbox. */
const SETTINGS: readonly OptionName[] = ['python'];

interface OfServer<Flags extends ServerFlags> {
  about: string;
  options: Option[];
  timeoutMs?: number;
  help: string;
  run(words: readonly string[], flags: Flags, surroundings: Surroundings): Promise<Answer>;
}

/** A command of `pungi test` that speaks to one server, and no specification need be there. */
export const serverSubcommand = <Flags extends ServerFlags>(
  name: string,
  end: End,
  { about, options, timeoutMs = TIMEOUT_MS, help, run }: OfServer<Flags>,
): Command =>
  takesCommand(
    subcommand<[words: string[]], Flags>(name, end, {
      about,
      operands: [
        ['[command...]', 'what starts the server, with its arguments; options of Pungi stand before it'],
      ],
      options: [...options, ...serverOptions(timeoutMs)],
      settings: SETTINGS,
      help,
      run: (surroundings, flags, words) => run(words, flags, surroundings),
    }),
  );
