import type { Command } from 'commander';
import type { LintFlags } from './flags.js';
import { SERVER_OPERANDS, SERVER_OPTIONS, SERVER_SETTINGS, takesCommand } from './server-flags.js';
import { collectWords, type End, option, subcommand } from './subcommand.js';

export const lint = (end: End): Command =>
  takesCommand(
    subcommand<[words: string[]], LintFlags>('lint', end, {
      about: 'say what a model or a client will trip over: descriptions, schemas, annotations, names',
      operands: SERVER_OPERANDS,
      options: [
        option('--strict', 'warnings fail as well'),
        option('--ignore <rules>', 'leave out these rules, separated by commas').argParser(collectWords),
        ...SERVER_OPTIONS,
      ],
      settings: SERVER_SETTINGS,
      help: `  pungi test lint -- node server.js
  pungi test lint --url http://127.0.0.1:3000/mcp --strict
  pungi test lint --spec server.test.yaml --ignore annotations,mime-type

Nothing is called: only what the server says of itself is looked at. Errors are against the protocol
or mislead; warnings are what models use worse for; advice is what could be said in addition.`,
      async run(surroundings, flags, words) {
        const { lintServer } = await import('./lint-server.js');
        return lintServer(words, flags, surroundings);
      },
    }),
  );
