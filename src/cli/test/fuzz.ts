import type { Command } from 'commander';
import type { FuzzFlags } from './flags.js';
import { serverSubcommand } from './server-flags.js';
import { collectWords, type End, option, wholeFrom } from './subcommand.js';

export const fuzz = (end: End): Command =>
  serverSubcommand<FuzzFlags>('fuzz', end, {
    about: 'call tools with strange inputs: the server must answer, and never crash or hang',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectWords),
      option('-n, --runs <count>', 'inputs for each tool').argParser(wholeFrom(1)).default(100),
      option('--seed <number>', 'the same seed tries the same inputs').argParser(wholeFrom(0, 2 ** 32 - 1)),
      option('-o, --output <file>', 'write what is found as tests'),
      option('-f, --force', 'replace that file'),
    ],
    // A hundred calls for each tool: one that hangs should not take an hour.
    timeoutMs: 10_000,
    help: `  pungi test fuzz -- node server.js
  pungi test fuzz --runs 1000 --tool search,fetch --timeout 5000 -- node server.js
  pungi test fuzz --spec server.test.yaml -o found.test.yaml
  pungi test fuzz --seed 42 --sandbox -- python3 server.py

The tools are really called: take a server that may be broken, or --sandbox. Those that say that
they destroy (destructiveHint) are left out unless --tool names them. Inputs are made from the
tools' own schemas, some of them spoilt. An error is a right answer; a crash, silence, an answer
against the protocol or against the output schema is a find, and is made as small as it can be.`,
    async run(words, flags, surroundings) {
      const { fuzzServer } = await import('./fuzz-server.js');
      return fuzzServer(words, flags, surroundings);
    },
  });
