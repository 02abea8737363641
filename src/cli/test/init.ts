import type { Command } from 'commander';
import type { InitFlags } from './flags.js';
import { serverSubcommand } from './server-flags.js';
import { type End, option } from './subcommand.js';

export const init = (end: End): Command =>
  serverSubcommand<InitFlags>('init', end, {
    about: 'ask a server what it has, and write a first specification',
    options: [
      option('-o, --output <file>', 'where to write it ("-": standard output)').default('server.test.yaml'),
      option('-f, --force', 'replace the file'),
      option('--call <which>', 'tools to call, so that the tests know what is answered')
        .choices(['read-only', 'all', 'none'])
        .default('read-only'),
    ],
    help: `  pungi test init -- node server.js
  pungi test init -o weather.test.yaml --server-env API_KEY=test -- python3 weather.py
  pungi test init --url http://127.0.0.1:3000/mcp
  pungi test init --call all --sandbox -- node server.js

Inputs are made from the schemas of the tools. Tools that say that they only read (readOnlyHint),
resources and prompts are called once, and their tests expect answers of the same kind; tests of
other tools are written to be skipped until you have looked at their input.`,
    async run(words, flags, surroundings) {
      const { writeFirstSpec } = await import('./write-first-spec.js');
      return writeFirstSpec(words, flags, surroundings);
    },
  });
