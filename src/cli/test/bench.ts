import type { Command } from 'commander';
import type { BenchFlags } from './flags.js';
import { serverSubcommand } from './server-flags.js';
import { collectWords, type End, option, wholeFrom } from './subcommand.js';

export const bench = (end: End): Command =>
  serverSubcommand<BenchFlags>('bench', end, {
    about: 'measure how long tools take, and how many calls a second they bear',
    options: [
      option('--tool <names>', 'only these tools, separated by commas').argParser(collectWords),
      option('-i, --input <json|@file>', 'the input, with one --tool; else made from the schema'),
      option('-d, --duration <ms>', 'how long each tool is called')
        .argParser(wholeFrom(1, 3_600_000))
        .default(3000),
      option('-c, --concurrency <count>', 'calls at the same time').argParser(wholeFrom(1, 1000)).default(1),
    ],
    help: `  pungi test bench -- node server.js
  pungi test bench --tool search --input '{"query": "tea"}' -c 8 -- node server.js
  pungi test bench --spec server.test.yaml --json

The tools are really called. Without --tool these are the ones that say that they only read
(readOnlyHint); with --spec, those that have a test, with the input of the first that succeeds.`,
    async run(words, flags, surroundings) {
      const { benchServer } = await import('./bench-server.js');
      return benchServer(words, flags, surroundings);
    },
  });
