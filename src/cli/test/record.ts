import type { Command } from 'commander';
import type { RecordFlags } from './flags.js';
import { takesCommand } from './server-flags.js';
import { collectPairs, type End, option, subcommand } from './subcommand.js';

export const record = (end: End): Command => {
  const command = subcommand<[words: string[]], RecordFlags>('record', end, {
    about: 'stand between a client and its server, and write the calls as tests',
    operands: [['<command...>', 'what starts the server, with its arguments']],
    options: [
      option('-o, --output <file>', 'where to write the tests').default('recorded.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--exact', 'expect the very answers, rather than answers of the same kind'),
      option('--server-env <name=value>', 'a variable of its environment; may be repeated').argParser(
        collectPairs,
      ),
    ],
    help: `  pungi test record -o session.test.yaml -- node server.js

Put this into the configuration of a client in place of the server's own command, and use the
client: every tool that it calls, resource that it reads and prompt that it gets becomes a test.
Messages are passed on unchanged, over stdio, and the server has the environment that the client
gives. The file is written after every call, so it is whole however the client ends.
Inputs, and with --exact also answers, are in the file: look at it before you share it.`,
    async run(surroundings, flags, words) {
      const { recordCalls } = await import('./record-calls.js');
      return recordCalls(words, flags, surroundings);
    },
  });
  // Standard output belongs to the client.
  for (const one of command.options) if (one.long === '--json') one.hideHelp();
  return takesCommand(command).usage('[options] [--] <command...>');
};
