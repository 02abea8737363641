import type { OptionName } from '@pungi/core/config';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import type { Answer, CommandContext, Parsed } from '../act.js';
import { type End, option, subcommandsOf } from '../subcommands.js';

/** The flags of `pungi test run`. */
export interface RunFlags extends Parsed {
  tags?: string[];
  filter?: string;
  parallel?: number;
  failFast?: boolean;
  timeout?: number;
  updateSnapshots?: boolean;
  report?: string[];
  var?: Record<string, string>;
  verbose?: boolean;
  watch?: boolean;
  strict?: boolean;
  list?: boolean;
}

/** Flags that name the server: a command, a URL, or a specification. */
export interface ServerFlags extends Parsed {
  url?: string;
  spec?: string;
  serverEnv?: Record<string, string>;
  header?: Record<string, string>;
  protocol?: 'auto' | 'legacy' | 'modern';
  sandbox?: boolean;
  timeout: number;
}

export interface InitFlags extends ServerFlags {
  output: string;
  force?: boolean;
  call: 'read-only' | 'all' | 'none';
}

export interface RecordFlags extends Pick<ServerFlags, 'url' | 'serverEnv' | 'header'>, Parsed {
  port: number;
  output: string;
  force?: boolean;
  exact?: boolean;
}

export interface LintFlags extends ServerFlags {
  strict?: boolean;
  ignore?: string[];
}

export interface FuzzFlags extends ServerFlags {
  tool?: string[];
  runs: number;
  seed?: number;
  output?: string;
  force?: boolean;
}

export interface BenchFlags extends ServerFlags {
  tool?: string[];
  input?: string;
  duration: number;
  concurrency: number;
}

const URL_OPTION = option('--url <url>', 'a server that is reachable over HTTP');
const ENV_OPTION = option(
  '--server-env <name=value>',
  'an environment variable for the server; may be repeated',
).argParser(collectPairs);
const HEADER_OPTION = option(
  '--header <name=value>',
  'a header for every HTTP request; may be repeated',
).argParser(collectHeaders);

/** The options of a server between which and its client calls are recorded. */
export const RECORDED_OPTIONS: Option[] = [URL_OPTION, HEADER_OPTION, ENV_OPTION];

const serverOptions = (timeoutMs: number): Option[] => [
  URL_OPTION,
  option('--spec <file>', 'the server of this specification'),
  ENV_OPTION,
  HEADER_OPTION,
  option('--protocol <era>', 'the protocol era of MCP').choices(['auto', 'legacy', 'modern']),
  option('--sandbox', 'run it in the kernel sandbox, without network'),
  option('--timeout <ms>', 'the time limit for an answer')
    .argParser(wholeFrom(1, 86_400_000))
    .default(timeoutMs),
];

/** Everything after the server's command belongs to the server. */
export const takesCommand = (command: Command): Command =>
  command.usage('[options] [--] <command... | --url url | --spec file>').passThroughOptions();

const TIMEOUT_MS = 30_000;

/** The sandbox is entered by an interpreter. */
const SETTINGS: readonly OptionName[] = ['python'];

interface OfServer<Flags extends ServerFlags> {
  about: string;
  options: Option[];
  timeoutMs?: number;
  help: string;
  run(argv: readonly string[], flags: Flags, context: CommandContext): Promise<Answer>;
}

/** A subcommand of `pungi test` that talks to one server and needs no specification. */
export const serverSubcommand = <Flags extends ServerFlags>(
  name: string,
  end: End,
  { about, options, timeoutMs = TIMEOUT_MS, help, run }: OfServer<Flags>,
): Command =>
  takesCommand(
    subcommand<[argv: string[]], Flags>(name, end, {
      about,
      operands: [['[command...]', 'the command that starts the server, after all options of Pungi']],
      options: [...options, ...serverOptions(timeoutMs)],
      settings: SETTINGS,
      help,
      run: (context, flags, argv) => run(argv, flags, context),
    }),
  );

export { type End, option } from '../subcommands.js';

/** The exit codes of the commands that test servers. */
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

/** Collects an option that may be repeated. */
export const collect = (value: string, earlier: string[] = []): string[] => [...earlier, value];

/** Parses a whole number within bounds. */
export const wholeFrom =
  (least: number, most = 1_000_000_000) =>
  (text: string): number => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}`);
  };

/** Collects repeated NAME=VALUE. */
export function collectPairs(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('must be of the form NAME=VALUE');
  return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Collects repeated NAME=VALUE or "NAME: VALUE". */
function collectHeaders(text: string, earlier: Record<string, string> = {}): Record<string, string> {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)(?:=|:\s*)(.*)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('must be of the form NAME=VALUE or "NAME: VALUE"');
  return { ...earlier, [name]: value! };
}

export const collectList = (text: string, earlier: string[] = []): string[] => [
  ...earlier,
  ...text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
];
