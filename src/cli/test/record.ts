import type { Command } from 'commander';
import type { RecordFlags } from './flags.js';
import { RECORDED_OPTIONS, takesCommand } from './server-flags.js';
import { type End, option, subcommand, wholeFrom } from './subcommand.js';

export const record = (end: End): Command => {
  const command = subcommand<[words: string[]], RecordFlags>('record', end, {
    about: 'stand between a client and its server, and write the calls as tests',
    operands: [['[command...]', 'what starts the server, with its arguments']],
    options: [
      option('-o, --output <file>', 'where to write the tests').default('recorded.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--exact', 'expect the very answers, rather than answers of the same kind'),
      ...RECORDED_OPTIONS,
      option('-p, --port <number>', 'with --url: where the client is served (0: any that is free)')
        .argParser(wholeFrom(0, 65_535))
        .default(0),
    ],
    help: `  pungi test record -o session.test.yaml -- node server.js
  pungi test record -o session.test.yaml --url https://example.com/mcp --port 4000

Put the first into the configuration of a client in place of the server's own command, and use
the client: every tool that it calls, resource that it reads and prompt that it gets becomes a
test. The server has the environment that the client gives. With --url, give the client the
address that is told, and end with Ctrl-C. Messages are passed on unchanged, and the file is
written after every call, so it is whole however the client ends.
Inputs, and with --exact also answers, are in the file: look at it before you share it. Headers
are not: the file says \${env:AUTHORIZATION}, and the test takes it from the environment.`,
    async run(surroundings, flags, words) {
      const { recordCalls } = await import('./record-calls.js');
      return recordCalls(words, flags, surroundings);
    },
  });
  // Standard output belongs to the client.
  for (const one of command.options) if (one.long === '--json') one.hideHelp();
  return takesCommand(command).usage('[options] [--] <command... | --url url>');
};
