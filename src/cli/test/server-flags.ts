import type { Command, Option } from 'commander';
import type { OptionName } from '../../config/schema.js';
import { collectPairs, option, wholeFrom } from './subcommand.js';

export const SERVER_OPTIONS: Option[] = [
  option('--url <url>', 'a server that answers there, over HTTP'),
  option('--spec <file>', 'the server of this specification'),
  option('--server-env <name=value>', 'a variable of its environment; may be repeated').argParser(
    collectPairs,
  ),
  option('--header <name=value>', 'sent with every request over HTTP; may be repeated').argParser(
    collectPairs,
  ),
  option('--protocol <era>', 'which of the eras of MCP is spoken').choices(['auto', 'legacy', 'modern']),
  option('--sandbox', 'run it in the kernel sandbox, without network'),
  option('--timeout <ms>', 'how long an answer may take (default 30000)').argParser(wholeFrom(1, 86_400_000)),
];

export const SERVER_OPERANDS: [name: string, about: string][] = [
  ['[command...]', 'what starts the server, with its arguments; options of Pungi stand before it'],
];

/** An interpreter enters the sandbox. */
export const SERVER_SETTINGS: readonly OptionName[] = ['python'];

/** What follows the first word of the server's command is for the server. */
export const takesCommand = (command: Command): Command =>
  command.usage('[options] [--] <command... | --url url | --spec file>').passThroughOptions();
