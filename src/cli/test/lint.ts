import type { Command } from 'commander';
import type { LintFlags } from './flags.js';
import { serverSubcommand } from './server-flags.js';
import { collectWords, type End, option } from './subcommand.js';

export const lint = (end: End): Command =>
  serverSubcommand<LintFlags>('lint', end, {
    about: 'say what a model or a client will trip over: descriptions, schemas, annotations, names',
    options: [
      option('--strict', 'warnings fail as well'),
      option('--ignore <rules>', 'leave out these rules, separated by commas').argParser(collectWords),
    ],
    help: `  pungi test lint -- node server.js
  pungi test lint --url http://127.0.0.1:3000/mcp --strict
  pungi test lint --spec server.test.yaml --ignore annotations,mime-type

Nothing is called: only what the server says of itself is looked at. Errors are against the protocol
or mislead; warnings are what models use worse for; advice is what could be said in addition.
Every remark ends with the name of its rule.`,
    async run(words, flags, surroundings) {
      const { lintServer } = await import('./lint-server.js');
      return lintServer(words, flags, surroundings);
    },
  });
